import type { Command } from 'commander';
import type { OpenCluster } from '../app/cluster.ts';
import type { PoolLook } from '../app/look.ts';
import type { PoolName } from '../app/names.ts';
import { runPass } from '../app/passes.ts';
import { type PoolView, poolLine, poolView } from '../app/pool-view.ts';
import { findPools } from '../app/queries.ts';
import type { TimelineEvent } from '../app/story.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { asPool, type ConnectionOptions, connect, withConnection } from './options.ts';
import { createTimeline } from './timeline.ts';

/** `everwarm reconcile`: one pass, by hand. */
export function addReconcile(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('reconcile')
    .summary('one pass by hand')
    .description(
      'Runs one pass over each pool, now and in this process; safe beside a running Everwarm. Refused for pools in mode observe. ' +
        'Ends with 1 when a pass failed, was refused, or left a pool that needs a person.',
    )
    .argument('[POOL]', '[[cluster/platform/]namespace/]name; all pools without it', asPool);
  withConnection(command)
    .addHelpText('after', '\nExample:\n  everwarm reconcile java-17 --kubeconfig .everwarm/kubeconfig')
    .action(async (pool: PoolName | undefined, options: ConnectionOptions) =>
      end(await run(cli, pool, options)),
    );
}

async function run(cli: Cli, pool: PoolName | undefined, options: ConnectionOptions): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  try {
    const looks = await findPools(cluster, pool);
    const codes: ExitCode[] = [];
    for (const look of looks) codes.push(await reconcileOne(cli, cluster, look, options.json === true));
    if (looks.length === 0) cli.complain(`everwarm: no pools in namespace ${cluster.namespaces.join(', ')}`);
    return codes.includes(1) ? 1 : 0;
  } finally {
    cluster.api.close();
  }
}

async function reconcileOne(
  cli: Cli,
  cluster: OpenCluster,
  look: PoolLook,
  json: boolean,
): Promise<ExitCode> {
  const { key, policy } = look.observation;
  const { pool } = poolLine(look);
  if (policy.mode === 'observe' && !look.plan.leaving) {
    cli.complain(`everwarm: ${pool} is in mode observe: set spec.mode of its WarmPool to guard first`);
    return 1;
  }
  let hasFailed = false;
  const timeline = createTimeline(cli);
  const tell = (event: TimelineEvent): void => {
    hasFailed ||= event.type === 'PassFailed' || event.type === 'GuardTripped';
    const { type, ...fields } = event;
    if (json) printJson(cli, type, fields);
    else timeline.add(event);
  };
  const { requeueAfterMs } = await runPass(cluster, key, { clock: cli.clock, random: cli.random, tell });
  timeline.flush();
  const after = (await findPools(cluster, key)).map(poolView);
  for (const view of after) sayDone(cli, view, requeueAfterMs, json);
  return hasFailed || after.some(({ degraded }) => degraded) ? 1 : 0;
}

function sayDone(cli: Cli, view: PoolView, requeueAfterMs: number | undefined, json: boolean): void {
  const { pool, desired, ready, current, stale, claimed, blocked, state, cause } = view;
  const again = requeueAfterMs === undefined ? {} : { requeueAfterMs };
  if (json)
    printJson(cli, 'Reconciled', { pool, desired, ready, current, stale, claimed, blocked, state, ...again });
  else
    cli.print(
      `${pool}: ${state}${cause === '' ? '' : `, ${cause}`}; ${desired} wanted, ${ready} ready, ${current} current, ${stale} stale, ${claimed} claimed`,
    );
}
