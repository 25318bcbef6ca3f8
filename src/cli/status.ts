import type { Command } from 'commander';
import type { PoolName } from '../app/names.ts';
import { type PoolView, poolView } from '../app/pool-view.ts';
import { findPools } from '../app/queries.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { asPool, type ConnectionOptions, connect, withConnection } from './options.ts';
import { createPaint } from './render.ts';
import { screenOf } from './status-screen.ts';

/** `everwarm status`: who is on what, in one screen. */
export function addStatus(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('status')
    .summary('who is on what, in one screen')
    .description(
      'Shows what is stale, dirty, missing or wrongly claimed, and which user sits on an old image, read fresh: every slot of one ' +
        'POOL; of several pools the slots that are not as they should be. Read rights suffice, and no WarmPool is needed. Ends with 1 ' +
        'when a pool needs a person or waits for something outside.',
    )
    .argument('[POOL]', '[[cluster/platform/]namespace/]name; all pools without it', asPool);
  withConnection(command)
    .addHelpText('after', '\nExample:\n  everwarm status java-17 --kubeconfig .everwarm/kubeconfig')
    .action(async (pool: PoolName | undefined, options: ConnectionOptions) =>
      end(await status(cli, pool, options)),
    );
}

async function status(cli: Cli, pool: PoolName | undefined, options: ConnectionOptions): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  try {
    const views = (await findPools(cluster, pool)).map(poolView);
    if (options.json === true) for (const view of views) printJson(cli, 'Pool', view);
    else printViews(cli, views, cluster.namespaces);
    return views.some(({ degraded }) => degraded) ? 1 : 0;
  } finally {
    cluster.api.close();
  }
}

function printViews(cli: Cli, views: readonly PoolView[], namespaces: readonly string[]): void {
  if (views.length === 0) cli.print(`no pools in namespace ${namespaces.join(', ')}`);
  const paint = createPaint(cli.hasColor);
  const look = { paint, now: cli.clock.now(), width: cli.width };
  for (const line of screenOf(views, look)) cli.print(line);
}
