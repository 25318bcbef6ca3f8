import type { Command } from 'commander';
import type { OpenCluster } from '../app/cluster.ts';
import type { PoolLook } from '../app/look.ts';
import type { PoolName } from '../app/names.ts';
import { hasLeft, setObserve } from '../app/policy.ts';
import { poolLine } from '../app/pool-view.ts';
import { findPools } from '../app/queries.ts';
import type { TimelineEvent } from '../app/story.ts';
import { type Cli, type ExitCode, printJson, UsageError } from './cli.ts';
import { drive } from './drive.ts';
import { asPool, type ConnectionOptions, connect, withConnection } from './options.ts';
import { createTimeline } from './timeline.ts';

interface LeaveOptions extends ConnectionOptions {
  readonly all?: boolean;
}

/** `everwarm leave`: hand a pool back to its platform, whole. */
export function addLeave(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('leave')
    .summary('finish what is begun, then touch the pool no more')
    .description(
      'Sets a pool to mode observe, finishes or returns every slot that is withdrawn, and ends when nothing of Everwarm is left on ' +
        'it. An Everwarm that runs does the work; without one it is done here. Run it before uninstalling. To take it back, set ' +
        'spec.mode of the WarmPool to guard.',
    )
    .argument('[POOL]', '[[cluster/platform/]namespace/]name', asPool)
    .option('--all', 'all pools of the namespaces');
  withConnection(command)
    .addHelpText('after', '\nExample:\n  everwarm leave --all --kubeconfig ~/.kube/config -n ide')
    .action(async (pool: PoolName | undefined, options: LeaveOptions) => {
      if ((pool === undefined) !== (options.all === true)) {
        throw new UsageError('name one POOL, or say --all');
      }
      end(await leave(cli, pool, options));
    });
}

async function leave(cli: Cli, name: PoolName | undefined, options: LeaveOptions): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  const json = options.json === true;
  const timeline = createTimeline(cli);
  const tell = (event: TimelineEvent): void => {
    const { type, ...fields } = event;
    if (json) printJson(cli, type, fields);
    else timeline.add(event);
  };
  try {
    for (const { observation } of await findPools(cluster, name)) {
      // Without a WarmPool nothing can have been begun.
      if (observation.warmPool !== undefined) await setObserve(cluster.api, observation.key);
    }
    const isOver = await finish(cli, cluster, name, tell);
    timeline.flush();
    if (!isOver) {
      cli.complain('everwarm: ended before all slots were returned: run it again');
      return 1;
    }
    const left = (await findPools(cluster, name)).map(poolLine);
    if (left.length === 0) cli.complain(`everwarm: no pools in namespace ${cluster.namespaces.join(', ')}`);
    for (const { pool } of left) {
      if (json) printJson(cli, 'Left', { pool });
      else cli.print(`${pool}: left, nothing of it is withdrawn`);
    }
    return 0;
  } finally {
    cluster.api.close();
  }
}

/** Waits until nothing is withdrawn any more; false when asked to end before. */
function finish(
  cli: Cli,
  cluster: OpenCluster,
  name: PoolName | undefined,
  tell: (event: TimelineEvent) => void,
): Promise<boolean> {
  let told = '';
  return drive(cli, cluster, {
    open: async () => (await findPools(cluster, name)).filter((look) => !hasLeft(look)),
    seen: (open) => {
      const progress = open.map((look) => `${poolLine(look).pool}: ${progressOf(look)}`).join('\n');
      if (progress !== told) cli.complain(progress);
      told = progress;
    },
    tell,
    signal: cli.signal,
  });
}

function progressOf({ plan }: PoolLook): string {
  const leaving = plan.status.conditions.find(({ type }) => type === 'Leaving');
  return `finishing ${leaving?.message ?? 'what is begun'}`;
}
