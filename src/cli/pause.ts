import type { Command } from 'commander';
import type { PoolName } from '../app/names.ts';
import { setPaused } from '../app/policy.ts';
import { poolLine } from '../app/pool-view.ts';
import { findPool } from '../app/queries.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { asPool, type ConnectionOptions, connect, withConnection } from './options.ts';

/** `everwarm pause`: nothing new is withdrawn. */
export function addPause(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('pause')
    .summary('withdraw nothing new; finish what is begun')
    .description(
      'Pauses a pool: nothing new is withdrawn or made; what is begun is finished, released slots are returned.',
    )
    .argument('<POOL>', '[[cluster/platform/]namespace/]name', asPool);
  withConnection(command)
    .addHelpText('after', '\nExample:\n  everwarm pause java-17 --kubeconfig .everwarm/kubeconfig')
    .action(async (pool: PoolName, options: ConnectionOptions) =>
      end(await changePaused(cli, pool, options, true)),
    );
}

/** Pauses or resumes one pool and says so. */
export async function changePaused(
  cli: Cli,
  name: PoolName,
  options: ConnectionOptions,
  paused: boolean,
): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  try {
    const look = await findPool(cluster, name);
    await setPaused(cluster.api, look.observation.key, paused);
    const { pool } = poolLine(look);
    if (options.json === true) printJson(cli, paused ? 'Paused' : 'Resumed', { pool });
    else
      cli.print(
        `${pool} ${paused ? 'is paused: what is begun is finished, nothing new is withdrawn' : 'is resumed'}`,
      );
    return 0;
  } finally {
    cluster.api.close();
  }
}
