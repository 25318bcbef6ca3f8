import type { Command } from 'commander';
import type { PoolName } from '../app/names.ts';
import { type PoolView, poolView, type SlotView } from '../app/pool-view.ts';
import { findPools } from '../app/queries.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { formatDuration } from './durations.ts';
import { asPool, type ConnectionOptions, connect, withConnection } from './options.ts';
import { type Color, clip, columns, createPaint, type Paint } from './render.ts';

/** `everwarm status`: who is on what, in one screen. */
export function addStatus(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('status')
    .summary('who is on what, in one screen')
    .description(
      'Shows each pool and its slots as they are now, read fresh. Read rights suffice, and no WarmPool is needed. ' +
        'Ends with 1 when a pool needs a person or waits for something outside.',
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
  for (const [at, view] of views.entries()) {
    if (at > 0) cli.print('');
    for (const line of screenOf(view, paint, cli.clock.now())) cli.print(clip(line, cli.width));
  }
}

function screenOf(view: PoolView, paint: Paint, now: number): readonly string[] {
  const counts = ['desired', 'ready', 'current', 'stale', 'claimed', 'blocked'] as const;
  const pools = [
    ['POOL', ...counts.map((name) => name.toUpperCase()), 'MODE', 'STATE'].map((head) => paint(head, 'dim')),
    [
      paint(view.pool, 'bold'),
      ...counts.map((name) => String(view[name])),
      view.mode,
      paint(view.state, stateColor(view)),
    ],
  ];
  const slots = [
    ['SLOT', 'STATE', 'CURRENT', 'REVISION', 'CLAIMED BY', 'SINCE', 'WAITS FOR'].map((head) =>
      paint(head, 'dim'),
    ),
    ...view.slots.map((slot) => slotRow(slot, paint, now)),
  ];
  return [
    ...columns(pools, { numeric: [1, 2, 3, 4, 5, 6] }),
    ...(view.cause === '' ? [] : [`  ${view.cause}`]),
    ...(view.slots.length === 0 ? [] : ['', ...columns(slots, { indent: '  ', numeric: [0] })]),
  ];
}

function slotRow(slot: SlotView, paint: Paint, now: number): readonly string[] {
  const current = slot.current === undefined ? '-' : slot.current ? 'yes' : paint('stale', 'yellow');
  const sinceMs = slot.since === undefined ? undefined : Math.max(0, now - Date.parse(slot.since));
  return [
    slot.slot,
    paint(slot.state, SLOT_COLORS[slot.state]),
    current,
    slot.revision ?? '-',
    slot.claimedBy ?? '-',
    sinceMs === undefined ? '-' : formatDuration(Math.round(sinceMs / 1_000) * 1_000),
    slot.waitsFor ?? '',
  ];
}

const SLOT_COLORS: Readonly<Record<SlotView['state'], Color>> = {
  ready: 'green',
  claimed: 'magenta',
  pending: 'yellow',
  withdrawn: 'yellow',
  deleting: 'yellow',
  missing: 'red',
  dirty: 'yellow',
  foreign: 'red',
};

function stateColor({ degraded, state }: PoolView): Color {
  if (degraded) return 'red';
  return state === 'Converged' ? 'green' : 'yellow';
}
