import type { Command } from 'commander';
import type { PoolName } from '../app/names.ts';
import type { Cli, ExitCode } from './cli.ts';
import { asPool, type ConnectionOptions, withConnection } from './options.ts';
import { changePaused } from './pause.ts';

/** `everwarm resume`: go on after a pause. */
export function addResume(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('resume')
    .summary('go on after a pause')
    .description('Ends the pause of a pool: what is stale or missing is replaced again, within the budget.')
    .argument('<POOL>', '[[cluster/platform/]namespace/]name', asPool);
  withConnection(command)
    .addHelpText('after', '\nExample:\n  everwarm resume java-17 --kubeconfig .everwarm/kubeconfig')
    .action(async (pool: PoolName, options: ConnectionOptions) =>
      end(await changePaused(cli, pool, options, false)),
    );
}
