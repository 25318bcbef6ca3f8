import type { PoolView, SlotView } from '../app/pool-view.ts';
import { formatDuration } from './durations.ts';
import { type Color, clip, columns, type Paint, ranges, wrap } from './render.ts';

/** How a screen is drawn: its colours, the time, the columns of the terminal (none in a pipe). */
interface Drawing {
  readonly paint: Paint;
  readonly now: number;
  readonly width: number | undefined;
}

const COUNTS = ['desired', 'ready', 'current', 'stale', 'claimed', 'blocked'] as const;

/** The screen of `everwarm status`: a line a pool, and under it the slots; of several pools those that need a look. */
export function screenOf(views: readonly PoolView[], drawing: Drawing): readonly string[] {
  const { paint, width } = drawing;
  const heads = ['POOL', ...COUNTS.map((name) => name.toUpperCase()), 'STATE', 'MODE'];
  const table = columns(
    [heads.map((head) => paint(head, 'dim')), ...views.map((view) => poolRow(view, views, paint))],
    { numeric: [1, 2, 3, 4, 5, 6] },
  );
  const isOne = views.length === 1;
  const details = views.flatMap((view) => detailsOf(view, { isOne, name: nameOf(view, views) }, drawing));
  return views.length === 0 ? [] : [...table.map((line) => clip(line, width)), ...details];
}

function poolRow(view: PoolView, views: readonly PoolView[], paint: Paint): readonly string[] {
  return [
    paint(nameOf(view, views), 'bold'),
    ...COUNTS.map((name) => String(view[name])),
    paint(view.state, stateColor(view)),
    view.mode,
  ];
}

/** As short as it is still clear: the namespace only where there are several. */
function nameOf({ pool }: PoolView, views: readonly PoolView[]): string {
  const [, , namespace = '', name = ''] = pool.split('/');
  const namespaces = new Set(views.map((one) => one.pool.split('/')[2]));
  return namespaces.size > 1 ? `${namespace}/${name}` : name;
}

interface Scope {
  readonly isOne: boolean;
  readonly name: string;
}

/** Of one pool everything; of several only what is not as it should be. */
function detailsOf(view: PoolView, { isOne, name }: Scope, drawing: Drawing): readonly string[] {
  const { paint, width } = drawing;
  const shown = isOne ? view.slots : view.slots.filter(({ faults }) => faults.length > 0);
  if (!isOne && shown.length === 0 && !view.degraded) return [];
  const should = view.image === undefined ? [] : [`${paint('should have', 'dim')} ${view.image}`];
  // The table says the rest.
  const isTold = view.cause !== '' && (isOne || view.degraded);
  const cause = isTold ? [`${view.degraded ? `${view.state}: ` : ''}${view.cause}`] : [];
  const head = [
    ...(isOne ? [] : [[paint(name, 'bold'), ...should].join('  ')]),
    ...[...(isOne ? should : []), ...cause].map((line) => `  ${line}`),
  ].flatMap((line) => wrap(line, width, '  '));
  const isSpaced = isOne && shown.length > 0;
  return [
    ...(isOne ? [] : ['']),
    ...head,
    ...(isSpaced ? [''] : []),
    ...slotTable(view, shown, drawing),
    ...sentencesOf(view, shown, drawing),
  ];
}

function slotTable(
  { image }: PoolView,
  slots: readonly SlotView[],
  { paint, width, now }: Drawing,
): readonly string[] {
  if (slots.length === 0) return [];
  const groups = Map.groupBy(slots, groupOf);
  const heads = ['SLOT', 'STATE', 'HAS', 'SINCE', 'SESSION', 'WRONG'].map((head) => paint(head, 'dim'));
  const rows = [...groups.values()].map((alike) => slotRow(alike, { image, paint, now }));
  return columns([heads, ...rows], { indent: '  ' }).map((line) => clip(line, width));
}

/** Slots of which the same is said share a line; what a user holds has a line of its own. */
function groupOf({ slot, state, image, claimedBy, faults }: SlotView): string {
  return claimedBy === undefined ? JSON.stringify([state, image, wordsOf(faults)]) : slot;
}

interface RowInput extends Pick<Drawing, 'paint' | 'now'> {
  readonly image: string | undefined;
}

function slotRow(alike: readonly SlotView[], { image, paint, now }: RowInput): readonly string[] {
  const [first] = alike;
  if (first === undefined) return [];
  const since = alike.map((one) => one.since).filter((at) => at !== undefined);
  const ages = since.map((at) => Math.max(0, now - Date.parse(at)));
  return [
    ranges(alike.map(({ slot }) => slot)),
    paint(first.state, SLOT_COLORS[first.state]),
    imageCell(first.image, image, paint),
    ages.length === 0 ? '-' : ageOf(Math.max(...ages)),
    first.claimedBy ?? '-',
    wordsOf(first.faults),
  ];
}

/** The shortest that tells the one image from the other: the tag, or all of it. */
function imageCell(has: string | undefined, should: string | undefined, paint: Paint): string {
  if (has === undefined) return '-';
  const at = has.lastIndexOf(':');
  const isSameName = should === undefined || has.slice(0, at) === should.slice(0, should.lastIndexOf(':'));
  const shown = isSameName ? has.slice(at) : has.slice(has.lastIndexOf('/') + 1);
  return has === should ? shown : paint(shown, 'yellow');
}

function wordsOf(faults: SlotView['faults']): string {
  return [...new Set(faults.map(({ fault }) => WORDS[fault]))].join(', ');
}

/** What the table has only a word for, and what is waited for; the same of several slots once. */
function sentencesOf(
  view: PoolView,
  slots: readonly SlotView[],
  { paint, width }: Drawing,
): readonly string[] {
  const said = slots.flatMap((slot) => [
    ...slot.faults
      .filter(({ fault, what }) => what !== '' && !(fault === 'stale' && isImageAlone(slot, view)))
      .map(({ fault, what }) => ({ slot: slot.slot, text: `${paint(WORDS[fault], 'yellow')}: ${what}` })),
    ...(slot.waitsFor === undefined || view.mode === 'observe'
      ? []
      : [{ slot: slot.slot, text: slot.waitsFor.replace(/^its /, 'waits for its ') }]),
  ]);
  const groups = Map.groupBy(said, ({ text }) => text);
  return [...groups].flatMap(([text, alike]) => {
    const name = `${alike.length === 1 ? 'slot' : 'slots'} ${ranges(alike.map(({ slot }) => slot))}`;
    return wrap(`  ${name}: ${text}`, width, '    ');
  });
}

/** The table says that already. */
function isImageAlone({ image, faults }: SlotView, view: PoolView): boolean {
  const stale = faults.find(({ fault }) => fault === 'stale');
  return image !== view.image && /^containers\[[^\]]*\]\.image$/.test(stale?.what ?? '');
}

const WORDS: Readonly<Record<SlotView['faults'][number]['fault'], string>> = {
  lockedOut: 'locked out',
  splitClaim: 'split claim',
  failedClaim: 'failed claim',
  surplusClaim: 'surplus',
  foreign: 'foreign',
  dirty: 'dirty',
  missing: 'missing',
  incomplete: 'incomplete',
  unready: 'not ready',
  stale: 'stale',
  surplus: 'surplus',
};

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

function ageOf(ms: number): string {
  const days = ms / 86_400_000;
  return days >= 2 ? `${Math.floor(days)}d` : formatDuration(Math.round(ms / 1_000) * 1_000);
}
