import { type Command, InvalidArgumentError } from 'commander';
import type { OpenCluster } from '../app/cluster.ts';
import type { PoolLook } from '../app/look.ts';
import { goesBy, type InstanceName, parseInstanceName, parsePoolName } from '../app/names.ts';
import { askForRefresh } from '../app/policy.ts';
import { poolLine } from '../app/pool-view.ts';
import { findPool, findPools, findSlot } from '../app/queries.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { type ConnectionOptions, connect, withConnection } from './options.ts';

/** `everwarm refresh`: new instances although the old ones are current. */
export function addRefresh(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('refresh')
    .summary('replace a pool or one instance although it is current')
    .description(
      'Asks for new instances although the old ones are current: of one slot, or of a whole pool. They are replaced within ' +
        'the budget, as in a release; claimed ones when they are released.',
    )
    .argument('<POOL|INSTANCE>', "a pool, POOL/SLOT, or the name of an instance's Deployment", asWritten);
  withConnection(command)
    .addHelpText('after', '\nExample:\n  everwarm refresh java-17/3 --kubeconfig .everwarm/kubeconfig')
    .action(async (what: string, options: ConnectionOptions) => end(await refresh(cli, what, options)));
}

/** What it is, a pool or an instance, the cluster knows; here it must only be one of them. */
function asWritten(text: string): string {
  const [pool, instance] = [parsePoolName(text), parseInstanceName(text)];
  if ('problem' in pool && 'problem' in instance) throw new InvalidArgumentError(instance.problem);
  return text;
}

async function refresh(cli: Cli, what: string, options: ConnectionOptions): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  try {
    const { look, slot } = await findTarget(cluster, what);
    const { key } = look.observation;
    await askForRefresh(cluster.api, key, { clock: cli.clock, ...(slot === undefined ? {} : { slot }) });
    const { pool } = poolLine(look);
    if (options.json === true)
      printJson(cli, 'RefreshAsked', { pool, ...(slot === undefined ? {} : { slot }) });
    else cli.print(`${pool}: ${slot === undefined ? 'all its instances' : `slot ${slot}`} ${whenOf(look)}`);
    return 0;
  } finally {
    cluster.api.close();
  }
}

/** When it will happen: a request stands until somebody may carry it out. */
function whenOf({ observation: { policy } }: PoolLook): string {
  if (policy.mode === 'observe') return 'will be replaced only in mode guard; the pool is in mode observe';
  return policy.paused ? 'will be replaced when it is resumed' : 'will be replaced within the budget';
}

interface Target {
  readonly look: PoolLook;
  readonly slot?: string;
}

/** A pool of that name comes first; then POOL/SLOT; then the name of a Deployment. */
async function findTarget(cluster: OpenCluster, what: string): Promise<Target> {
  const pool = parsePoolName(what);
  const instance = parseInstanceName(what);
  const named: InstanceName | undefined = 'name' in instance ? instance.name : undefined;
  if ('name' in pool && named?.kind !== 'slot') {
    const namespaces = pool.name.namespace === undefined ? cluster.namespaces : [pool.name.namespace];
    const all = await findPools({ ...cluster, namespaces }, undefined);
    const isPool = all.some(({ observation }) => goesBy(observation.key, pool.name));
    if (isPool || named === undefined || !named.name.startsWith('instance-')) {
      return { look: await findPool(cluster, pool.name) };
    }
  }
  if (named === undefined) throw new Error(`neither a pool nor an instance: ${what}`);
  return await findSlot(cluster, named);
}
