import { type Portal, type RawEntry, readEntry, type Workshop } from './crds.ts';
import { type Dropped, readDropped } from './dropped.ts';
import type { Finding } from './finding.ts';
import { ofPool } from './finding.ts';
import { DROPPED_ANNOTATION, isLabelValue } from './labels.ts';

/** One entry of a portal's `spec.workshops`, with what the portal makes of its settings and defaults. */
export interface Entry {
  /** Its alias, else the Workshop's name: what Educates knows it by. */
  readonly slot: string;
  /** Its place in `spec.workshops`. */
  readonly at: number;
  readonly workshopName: string;
  readonly capacity: number;
  readonly reserved: number;
  readonly initial: number;
  /** How old its environment may get; 0 for any age. */
  readonly refreshMs: number;
  /** It is being re-admitted. */
  readonly dropped?: Dropped;
  /** It stands in the list, too: somebody has put it back. */
  readonly isBack?: true;
  /** Why nothing can be done for it until somebody mends it. */
  readonly blocked?: Finding;
}

/** What the entries of one portal come to. */
export interface Entries {
  /** Each slot once, in the order of the list. */
  readonly entries: readonly Entry[];
  /** What stands in the list and is none, and what is odd about the rest. */
  readonly findings: readonly Finding[];
  /** `spec.portal.sessions.maximum`; 0 for no limit. */
  readonly maximum: number;
}

const UNREADABLE = ofPool(
  'DroppedUnreadable',
  `annotation ${DROPPED_ANNOTATION} of the TrainingPortal cannot be read: it may hold entries that are missing in spec.workshops; put them back by hand and remove it`,
);

interface Around {
  readonly workshops: ReadonlyMap<string, Workshop>;
  readonly others: readonly Portal[];
}

/** Reads the entries; one that is wrong is a problem of its own, and the others are served. */
export function entriesOf(portal: Portal, around: Around): Entries {
  const raw = portal.spec.workshops ?? [];
  const entries = new Map<string, Entry>();
  const findings: Finding[] = [];
  for (const [at, given] of raw.entries()) {
    const entry = entryOf(portal, given, { ...around, at });
    if ('reason' in entry) findings.push(entry);
    else if (!entries.has(entry.slot)) entries.set(entry.slot, entry);
    else findings.push(duplicate(entry, entries.get(entry.slot)));
  }
  findings.push(...addDropped(entries, portal, around));
  if (raw.length === 0 && entries.size === 0)
    findings.push(
      ofPool('NoWorkshops', 'spec.workshops is empty: the portal ends every environment that it has'),
    );
  const wrong = wrongDefault(portal);
  if (wrong !== undefined) findings.push(ofPool('InvalidEntry', wrong));
  const listed = [...entries.values()];
  return {
    entries: listed,
    findings: [...findings, ...listed.flatMap(({ blocked }) => blocked ?? [])],
    maximum: countIn(portal.spec.portal.sessions.maximum) ?? 0,
  };
}

/** What was dropped is an entry all the same. */
function addDropped(entries: Map<string, Entry>, portal: Portal, around: Around): readonly Finding[] {
  const dropped = readDropped(portal);
  if (dropped === undefined) return [UNREADABLE];
  const findings: Finding[] = [];
  for (const [slot, one] of dropped) {
    const standing = entries.get(slot);
    const entry = standing ?? entryOf(portal, readEntry(one.entry), { ...around, at: one.at });
    if ('reason' in entry) findings.push(entry);
    else entries.set(slot, { ...entry, slot, dropped: one, ...(standing && { isBack: true }) });
  }
  return findings;
}

function entryOf(
  portal: Portal,
  given: RawEntry,
  { at, workshops, others }: Around & { readonly at: number },
): Entry | Finding {
  const where = `spec.workshops[${at}]`;
  const { name, alias } = given;
  if (typeof name !== 'string' || name === '')
    return ofPool('InvalidEntry', `${where}.name is ${name === undefined ? 'missing' : 'not a name'}`);
  if (alias !== undefined && typeof alias !== 'string')
    return ofPool('InvalidEntry', `${where}.alias is not text`);
  const slot = alias === undefined || alias === '' ? name : alias;
  const field = slot === name ? `${where}.name` : `${where}.alias`;
  const blocked =
    unlabelled(slot, field) ??
    wrongSetting(given, where) ??
    wrongWorkshop(name, where, workshops) ??
    sharedWith(others, name, where);
  const known = { slot, at, workshopName: name, ...sizesOf(portal, given) };
  return {
    ...known,
    refreshMs: durationIn(given.refresh ?? portal.spec.portal.workshop.defaults.refresh) ?? 0,
    ...(blocked === undefined ? {} : { blocked: { slot, ...blocked } }),
  };
}

type Wrong = Omit<Finding, 'slot'> | undefined;

/** Since release 3.6.1 the environment carries the slot as a label, and one that cannot be a label's value is never made. */
function unlabelled(slot: string, field: string): Wrong {
  if (isLabelValue(slot)) return undefined;
  const why = slot.length > 63 ? 'is longer than 63 characters' : 'has more than letters, digits, - _ and .';
  return {
    reason: 'InvalidEntry',
    message: `${field} ${JSON.stringify(slot)} ${why}: it cannot be a label, so no environment is made for it`,
  };
}

const DURATIONS = ['expires', 'overtime', 'deadline', 'orphaned', 'overdue', 'refresh'] as const;
const COUNTS = ['capacity', 'reserved', 'initial'] as const;

function wrongSetting(given: RawEntry, where: string): Wrong {
  const message = wrongIn(given, where);
  return message === undefined ? undefined : { reason: 'InvalidEntry', message };
}

function wrongDefault({ spec }: Portal): string | undefined {
  const { maximum } = spec.portal.sessions;
  if (maximum !== undefined && countIn(maximum) === undefined)
    return 'spec.portal.sessions.maximum is not a whole number';
  return wrongIn(spec.portal.workshop.defaults, 'spec.portal.workshop.defaults');
}

type Settings = Portal['spec']['portal']['workshop']['defaults'];

function wrongIn(given: Settings, where: string): string | undefined {
  const duration = DURATIONS.find(
    (name) => given[name] !== undefined && durationIn(given[name]) === undefined,
  );
  if (duration !== undefined)
    return `${where}.${duration} ${JSON.stringify(given[duration])} is no duration: write 90s, 30m or 2h`;
  const count = COUNTS.find((name) => given[name] !== undefined && countIn(given[name]) === undefined);
  return count === undefined ? undefined : `${where}.${count} is not a whole number`;
}

function wrongWorkshop(name: string, where: string, workshops: Around['workshops']): Wrong {
  const workshop = workshops.get(name);
  if (workshop === undefined)
    return { reason: 'WorkshopMissing', message: `${where}.name: there is no Workshop ${name}` };
  if (!workshop.hasSession)
    return { reason: 'InvalidWorkshop', message: `Workshop ${name}: spec.session is missing` };
  return undefined;
}

/** What is done to a Workshop to help one portal reaches every other portal that has it. */
function sharedWith(others: readonly Portal[], name: string, where: string): Wrong {
  const sharing = others.filter(({ spec }) => spec.workshops?.some((entry) => entry.name === name) === true);
  if (sharing.length === 0) return undefined;
  const names = sharing.map((portal) => portal.name).sort();
  return {
    reason: 'SharedWorkshop',
    message: `${where}.name: Workshop ${name} is also one of portal ${names.join(', ')}`,
  };
}

function duplicate(entry: Entry, first: Entry | undefined): Finding {
  const field = `spec.workshops[${entry.at}].${entry.slot === entry.workshopName ? 'name' : 'alias'}`;
  const message = `${field} ${JSON.stringify(entry.slot)} is that of spec.workshops[${first?.at}] already: give it an alias of its own`;
  return ofPool('DuplicateEntry', message);
}

/** As the portal computes them: an initial of 0 means none until somebody asks first. */
function sizesOf({ spec }: Portal, given: RawEntry): Pick<Entry, 'capacity' | 'reserved' | 'initial'> {
  const { portal } = spec;
  const { defaults } = portal.workshop;
  const pick = (name: 'capacity' | 'reserved' | 'initial') =>
    countIn(given[name]) ?? countIn(defaults[name]) ?? countIn(portal[name]);
  const capacity = Math.max(0, pick('capacity') ?? countIn(portal.sessions.maximum) ?? 0);
  const clamp = (value: number) => Math.min(Math.max(0, value), capacity);
  const wanted = pick('reserved') ?? 1;
  const reserved = clamp(wanted);
  const initial = clamp(pick('initial') ?? wanted);
  return { capacity, reserved, initial: initial === 0 ? 0 : Math.max(initial, reserved) };
}

function countIn(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) ? value : undefined;
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function durationIn(value: unknown): number | undefined {
  const [, digits, unit = ''] = typeof value === 'string' ? (/^(\d+)([smh])$/.exec(value) ?? []) : [];
  return digits === undefined ? undefined : Number(digits) * (UNIT_MS[unit] ?? 0);
}
