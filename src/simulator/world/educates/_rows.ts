import type { Random } from '../../../clock.ts';
import type { KubeObject } from '../../../kube/api.ts';
import { type Hands, itemsAt, numberAt, textAt, valueAt } from './_hands.ts';
import type { PortalFaults } from './portal-faults.ts';

/** The portal's database: what it knows, whatever stands in the cluster. It survives the portal. */
export interface Database {
  portal?: PortalRow;
  readonly environments: EnvironmentRow[];
  readonly sessions: SessionRow[];
  lastId: number;
  /** Until then nothing can be written (epoch ms). */
  lockedUntil: number;
}

interface PortalRow {
  readonly uid: string;
  readonly generation: number;
  readonly maximum: number;
  readonly updates: boolean;
  readonly url: string;
  readonly entries: readonly Wanted[];
}

/** One entry with every default filled in. */
export interface Wanted {
  /** Its alias, or its Workshop's name. */
  readonly entry: string;
  readonly workshop: string;
  readonly capacity: number;
  readonly reserved: number;
  readonly initial: number;
  readonly expiresMs: number;
  readonly refreshMs: number;
  readonly hasLabels: boolean;
}

export interface EnvironmentRow {
  readonly name: string;
  readonly uid: string;
  readonly createdAt: number;
  wanted: Wanted;
  state: 'STARTING' | 'RUNNING' | 'STOPPING' | 'STOPPED';
  /** Sessions made so far. */
  tally: number;
  /** The Workshop that it was made from; none until it is taken into use. */
  pinned?: { readonly uid: string; readonly generation: number };
}

export interface SessionRow {
  readonly name: string;
  readonly environment: EnvironmentRow;
  uid: string;
  state: 'STARTING' | 'WAITING' | 'RUNNING' | 'STOPPING' | 'STOPPED';
  owner?: string;
  token?: string;
  expiresAt?: number;
}

export function createDatabase(): Database {
  return { environments: [], sessions: [], lastId: 0, lockedUntil: 0 };
}

/** What every part of a running portal works with. */
export interface PortalContext {
  readonly name: string;
  readonly db: Database;
  readonly hands: Hands;
  readonly faults: PortalFaults;
  readonly random: Random;
  readonly log: (line: string) => void;
  /** Runs `work` later, when nothing else runs; what it throws is logged, and that is all. */
  later(ms: number, work: () => Promise<void>): void;
}

export function isActive({ state }: EnvironmentRow): boolean {
  return state === 'STARTING' || state === 'RUNNING';
}

/** The sessions of an environment, or of all, that are not over. */
export function activeSessions(db: Database, environment?: EnvironmentRow): readonly SessionRow[] {
  return db.sessions.filter(
    (row) => row.state !== 'STOPPED' && (environment === undefined || row.environment === environment),
  );
}

/** Those that nobody has, the lowest name first. */
export function warmSessions(db: Database, environment: EnvironmentRow): readonly SessionRow[] {
  return activeSessions(db, environment)
    .filter((row) => row.state === 'WAITING' && row.owner === undefined)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What the portal's spec says, as the portal reads it. */
export function readSpec(object: KubeObject): PortalRow {
  const spec = valueAt(object, 'spec', 'portal');
  const maximum = numberAt(spec, 'sessions', 'maximum') ?? 0;
  const defaults = valueAt(spec, 'workshop', 'defaults');
  return {
    uid: object.metadata.uid ?? '',
    generation: object.metadata.generation ?? 0,
    maximum,
    updates: valueAt(spec, 'updates', 'workshop') === true,
    url: textAt(object, 'status', 'educates', 'url') ?? '',
    entries: itemsAt(object, 'spec', 'workshops').map((entry) => wantedOf(entry, defaults, spec, maximum)),
  };
}

function wantedOf(entry: unknown, defaults: unknown, portal: unknown, maximum: number): Wanted {
  const count = (field: string) =>
    numberAt(entry, field) ?? numberAt(defaults, field) ?? numberAt(portal, field);
  const time = (field: string) => duration(textAt(entry, field) ?? textAt(defaults, field) ?? '');
  const capacity = Math.max(0, count('capacity') ?? maximum);
  const clamp = (value: number) => Math.min(Math.max(0, value), capacity);
  const reserved = clamp(count('reserved') ?? 1);
  const initial = clamp(count('initial') ?? count('reserved') ?? 1);
  const workshop = textAt(entry, 'name') ?? '';
  return {
    entry: textAt(entry, 'alias') || workshop,
    workshop,
    capacity,
    reserved,
    initial: initial === 0 ? 0 : Math.max(initial, reserved),
    expiresMs: time('expires'),
    refreshMs: time('refresh'),
    hasLabels: itemsAt(entry, 'labels').length > 0,
  };
}

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };

function duration(text: string): number {
  return (Number.parseInt(text, 10) || 0) * (UNIT_MS[text.slice(-1)] ?? 0);
}
