import type { TimelineEvent } from '../app/story.ts';
import type { Clock } from '../clock.ts';
import { type Color, clip, columns, createPaint, type Paint, pad, ranges } from './render.ts';

/** One line of the timeline, before it is laid out. */
interface Line {
  readonly who: string;
  readonly pool: string;
  readonly slots: string[];
  readonly what: string;
  readonly atMs: number;
  readonly isBad: boolean;
}

export interface TimelineOptions {
  readonly clock: Clock;
  readonly print: (line: string) => void;
  readonly hasColor: boolean;
  readonly width: number | undefined;
}

/** What happens, as it happens, one line each. */
export interface Timeline {
  add(event: TimelineEvent): void;
  /** Prints what is still held back. */
  flush(): void;
}

/** What many slots do within this time is one line. */
const TOGETHER_MS = 250;
const WHERE_WIDTH = 16;
const WHO_WIDTH = 10;

const COLORS: Readonly<Record<string, Color>> = {
  everwarm: 'green',
  forwarder: 'cyan',
  operator: 'yellow',
  user: 'magenta',
  person: 'blue',
  cluster: 'dim',
};

/** A timeline that begins now. */
export function createTimeline(options: TimelineOptions): Timeline {
  const { clock, print, width } = options;
  const paint = createPaint(options.hasColor);
  const beganAt = clock.now();
  let waiting: Line[] = [];
  let cancel = (): void => {};

  const flush = (): void => {
    cancel();
    for (const line of waiting) print(clip(layOut(line, paint, beganAt), width));
    waiting = [];
  };
  return {
    flush,
    add(event) {
      const said = lineOf(event);
      if (said === undefined) return;
      const { pool = '', slot, who, what, isBad = false } = said;
      const same = waiting.find((line) => line.who === who && line.pool === pool && line.what === what);
      if (same !== undefined && slot !== undefined) {
        if (!same.slots.includes(slot)) same.slots.push(slot);
        return;
      }
      const slots = slot === undefined ? [] : [slot];
      waiting.push({ who, pool, what, isBad, slots, atMs: clock.now() });
      if (waiting.length === 1) cancel = clock.after(TOGETHER_MS, flush);
    },
  };
}

/** The heads of the columns. */
export function timelineHead(hasColor: boolean): string {
  return createPaint(hasColor)(
    `${'TIME'.padStart(7)}  ${pad('WHO', WHO_WIDTH)}${pad('POOL/SLOT', WHERE_WIDTH)}WHAT`,
    'dim',
  );
}

function layOut(line: Line, paint: Paint, beganAt: number): string {
  const time = `${((line.atMs - beganAt) / 1_000).toFixed(1)}s`.padStart(7);
  const who = paint(pad(line.who, WHO_WIDTH), COLORS[line.who] ?? 'dim');
  const place = [line.pool.split('/').at(-1) ?? '', ranges(line.slots)]
    .filter((part) => part !== '')
    .join('/');
  const what = line.isBad
    ? paint(line.what, 'red')
    : line.who === 'cluster'
      ? paint(line.what, 'dim')
      : line.what;
  return `${paint(time, 'dim')}  ${who}${pad(place, WHERE_WIDTH - 1)} ${what}`;
}

interface Said {
  readonly who: string;
  readonly what: string;
  readonly pool?: string;
  readonly slot?: string;
  readonly isBad?: boolean;
}

/** What an event says to people; `undefined` for what they need not hear. */
function lineOf(event: TimelineEvent): Said | undefined {
  switch (event.type) {
    case 'Story':
      return event;
    case 'Notice':
      return noticeLine(event);
    case 'Resync':
      return event.enqueued.length === 0
        ? undefined
        : { who: 'everwarm', what: `resync: ${event.enqueued.length} of ${event.pools} pools need a pass` };
    case 'Violation':
      return { who: 'everwarm', what: `VIOLATION ${event.name}: ${event.message}`, isBad: true };
    default:
      return outcomeLine(event);
  }
}

const INSTANCE = /^Deployment\/instance-([1-9][0-9]*)-/;

/** Deletions and definitions are what people wait for; the rest is hum. */
function noticeLine({
  pool,
  object,
  reason,
  coalesced,
  lost,
}: Extract<TimelineEvent, { type: 'Notice' }>): Said | undefined {
  const who = 'forwarder';
  if (lost) return undefined;
  const slot = INSTANCE.exec(object)?.[1];
  if (slot !== undefined && reason === 'deleted')
    return { who, pool, slot, what: 'sends word: its Deployment is gone' };
  if (!object.startsWith('AppDefinition/')) return undefined;
  const changes = coalesced > 1 ? ` (one notice for ${coalesced} changes)` : '';
  return {
    who,
    pool,
    what: `sends word: its definition ${reason === 'deleted' ? 'is gone' : 'changed'}${changes}`,
  };
}

type Outcome = Exclude<TimelineEvent, { type: 'Story' | 'Notice' | 'Resync' | 'Violation' }>;

/** What a pass did, in one line. */
function outcomeLine(event: Outcome): Said | undefined {
  const { pool } = event;
  const who = 'everwarm';
  switch (event.type) {
    case 'PoolCreated':
      return { who, pool, what: 'its WarmPool is in place' };
    case 'ActionDone':
      return { who, pool, what: doneOf(event.action), ...slotIn(event.action) };
    case 'ActionFailed':
      // Somebody else wrote first: the pass looks again, and that is all there is to it.
      return event.kind === 'conflict' || event.kind === 'notFound' || event.kind === 'exists'
        ? undefined
        : {
            who,
            pool,
            ...slotIn(event.action),
            what: `${event.action.kind} failed: ${event.message}`,
            isBad: true,
          };
    case 'PoolConverged':
      return { who, pool, what: `converged: ${event.ready} ready and current, ${event.claimed} claimed` };
    case 'PoolBlocked':
      return {
        who,
        pool,
        what: `blocked: ${event.reason}, ${event.message}${mendOf(event.reason)}`,
        isBad: true,
      };
    case 'EventsLost':
      return { who, pool, what: `cannot write Kubernetes Events: ${event.message}` };
    case 'PassFailed':
      return { who, pool, what: `the pass failed: ${event.message}`, isBad: true };
    case 'GuardTripped':
      return {
        who,
        pool,
        slot: event.slot,
        what: `stopped before a write that would break ${event.rule}`,
        isBad: true,
      };
  }
}

/** What a person can do about it, where that is always the same. */
function mendOf(reason: string): string {
  return reason === 'ObserveOnly' ? ': install the WarmPool kind (--install-crds) or allow making one' : '';
}

type Done = Extract<TimelineEvent, { type: 'ActionDone' }>['action'];

const slotIn = (action: Done): { readonly slot?: string } => ('slot' in action ? { slot: action.slot } : {});

function doneOf(action: Done): string {
  switch (action.kind) {
    case 'discard':
      return `deleted the left-over ${action.name}`;
    case 'touch':
      return 'stays after all';
    case 'withdraw':
      return `withdrawn (${action.reason}): not handed out now`;
    case 'remove':
      return 'removed: fewer are wanted';
    case 'empty':
      return `emptied (${action.reason}): the old Deployment goes`;
    case 'build':
      return 'built: what it lacked is created';
    case 'return':
      return 'returned: ready, clean and current';
    case 'nudge':
      return 'nudged: there may be room now';
    case 'prompt':
      return `${action.remedy}: done`;
    case 'relabel':
      return 'relabelled';
    case 'heal':
      return `healed for its user: ${action.lacks.join(', ')}`;
    case 'unhold':
      return 'held no longer';
    case 'pin':
      return action.step === 'anchor'
        ? 'kept for the release: not handed out now'
        : "out of the operator's reach until the definition has changed";
    case 'unpin':
      return action.step === 'anchor' ? 'handed out again as it is' : "within the operator's reach again";
  }
}

/** A block of label and value, for headers. */
export function block(
  rows: readonly (readonly [label: string, value: string])[],
  paint: Paint,
): readonly string[] {
  return columns(rows.map(([label, value]) => [paint(label, 'dim'), value]));
}
