import { z } from 'zod';
import type { KubeObject } from '../../kube/api.ts';
import { REFRESH_ANNOTATION } from '../warm-pool.ts';
import { DROPPED_ANNOTATION, isProgress, OWNER_ANNOTATION } from './labels.ts';

/**
 * Educates' objects as they are read: what is not named here is dropped, for their specs, statuses and annotations are full of
 * passwords. Reading is total: a field of the wrong kind is as good as none.
 */

const TextSchema = z.string().optional().catch(undefined);
const CountSchema = z.int().optional().catch(undefined);

/** An object with these fields; anything else is as good as an empty one. */
function given<S extends z.ZodRawShape>(shape: S) {
  const isFields = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  return z.preprocess((value) => (isFields(value) ? value : {}), z.object(shape));
}

/** The same, and there even if nothing is. */
function fields<S extends z.ZodRawShape>(shape: S) {
  return given(shape).prefault({});
}

/** Of whatever kind it is. */
const AnySchema = z.unknown().optional();

/** How large and how old things may get; checked where it is used, so that a bad one can be named. */
const SettingsShape = {
  capacity: AnySchema,
  reserved: AnySchema,
  initial: AnySchema,
  expires: AnySchema,
  overtime: AnySchema,
  deadline: AnySchema,
  orphaned: AnySchema,
  overdue: AnySchema,
  refresh: AnySchema,
};
const EntrySchema = fields({ name: AnySchema, alias: AnySchema, ...SettingsShape });
export type RawEntry = z.infer<typeof EntrySchema>;

const PortalSchema = fields({
  spec: fields({
    portal: fields({
      sessions: fields({ maximum: AnySchema }),
      workshop: fields({ defaults: fields(SettingsShape) }),
      updates: fields({ workshop: z.boolean().default(false).catch(false) }),
      capacity: AnySchema,
      reserved: AnySchema,
      initial: AnySchema,
    }),
    workshops: z.array(EntrySchema).optional().catch(undefined),
  }),
  status: fields({ educates: given({ phase: TextSchema, message: TextSchema }).optional() }),
});

const GivenSchema = fields({ spec: fields({ workshops: z.array(z.unknown()).optional().catch(undefined) }) });

const WorkshopSchema = fields({ spec: fields({ session: AnySchema }) });

const EnvironmentSchema = fields({
  spec: fields({ workshop: fields({ name: TextSchema }) }),
  status: fields({
    educates: fields({
      phase: TextSchema,
      message: TextSchema,
      initial: CountSchema,
      reserved: CountSchema,
      workshop: fields({ uid: TextSchema, generation: CountSchema }),
    }),
  }),
});

const SessionSchema = fields({
  spec: fields({ environment: fields({ name: TextSchema }) }),
  status: fields({
    educates: fields({ phase: TextSchema, message: TextSchema, url: TextSchema, user: TextSchema }),
  }),
});

const AllocationSchema = fields({
  spec: fields({ session: fields({ name: TextSchema }) }),
  status: fields({ educates: fields({ phase: TextSchema, message: TextSchema }) }),
});

const ProgressSchema = fields({ message: TextSchema });
const TimesSchema = z.array(fields({ time: TextSchema })).catch([]);

/** What is the same of all kinds. */
interface Read {
  /** Name, uid, owners, labels and times: all that is kept of the object as it was sent. */
  readonly object: KubeObject;
  readonly name: string;
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly createdAt: number;
  /** When anybody last wrote it, as far as the server tells. */
  readonly writtenAt?: number;
  readonly isGoing: boolean;
  /** Nobody has annotated it yet. */
  readonly isBlank: boolean;
  /** Why session-manager failed with it last, where only its own annotation says so. */
  readonly failure?: string;
  readonly owner?: string;
}

export interface Portal extends Read, Readonly<z.infer<typeof PortalSchema>> {
  /** The entries as they stand, word for word: what is dropped is put back the same. */
  readonly given: readonly unknown[] | undefined;
  /** What stands in our annotation about entries that were dropped. */
  readonly dropped?: string;
}
export interface Workshop extends Read {
  readonly generation: number;
  readonly hasSession: boolean;
}
export interface Environment extends Read {
  readonly workshopName: string;
  /** A person asks for another one in its place. */
  readonly refresh: boolean;
  /** The Workshop that it was made from; `undefined` until it is ready. */
  readonly pinned?: { readonly uid: string; readonly generation: number };
  readonly status: z.infer<typeof EnvironmentSchema>['status']['educates'];
}
export interface Session extends Read {
  readonly environmentName: string;
  readonly status: z.infer<typeof SessionSchema>['status']['educates'];
}
export interface Allocation extends Read {
  readonly sessionName: string;
  readonly status: z.infer<typeof AllocationSchema>['status']['educates'];
}

export function readPortal(object: KubeObject): Portal {
  const dropped = object.metadata.annotations?.[DROPPED_ANNOTATION];
  const { spec } = GivenSchema.parse(object);
  return {
    ...read(object),
    ...PortalSchema.parse(object),
    given: spec.workshops,
    ...(dropped === undefined ? {} : { dropped }),
  };
}

/** One entry of `spec.workshops`, wherever it stands. */
export function readEntry(entry: unknown): RawEntry {
  return EntrySchema.parse(entry);
}

export function readWorkshop(object: KubeObject): Workshop {
  const { spec } = WorkshopSchema.parse(object);
  const hasSession = typeof spec.session === 'object' && spec.session !== null;
  return { ...read(object), generation: object.metadata.generation ?? 0, hasSession };
}

export function readEnvironment(object: KubeObject): Environment {
  const { spec, status } = EnvironmentSchema.parse(object);
  const { uid, generation } = status.educates.workshop;
  return {
    ...read(object),
    workshopName: spec.workshop.name ?? '',
    refresh: object.metadata.annotations?.[REFRESH_ANNOTATION] !== undefined,
    ...(uid === undefined ? {} : { pinned: { uid, generation: generation ?? 0 } }),
    status: status.educates,
  };
}

export function readSession(object: KubeObject): Session {
  const { spec, status } = SessionSchema.parse(object);
  return { ...read(object), environmentName: spec.environment.name ?? '', status: status.educates };
}

export function readAllocation(object: KubeObject): Allocation {
  const { spec, status } = AllocationSchema.parse(object);
  return { ...read(object), sessionName: spec.session.name ?? object.metadata.name, status: status.educates };
}

/** The object without spec, status and annotations: what may be shown and kept of any of Educates' kinds. */
export function bare({ apiVersion, kind, metadata }: KubeObject): KubeObject {
  const { name, namespace, uid, resourceVersion, generation, creationTimestamp } = metadata;
  const { deletionTimestamp, labels, ownerReferences } = metadata;
  const kept = {
    namespace,
    uid,
    resourceVersion,
    generation,
    creationTimestamp,
    deletionTimestamp,
    labels,
    ownerReferences,
  };
  const given = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return { apiVersion, kind, metadata: { name, ...given } };
}

function read(object: KubeObject): Read {
  const { metadata } = object;
  const {
    name,
    uid = '',
    labels = {},
    annotations = {},
    creationTimestamp = '',
    deletionTimestamp,
  } = metadata;
  const owner = annotations[OWNER_ANNOTATION];
  const failure = failureIn(annotations);
  const writtenAt = writtenIn(metadata);
  return {
    object: bare(object),
    name,
    uid,
    labels,
    createdAt: Date.parse(creationTimestamp) || 0,
    ...(writtenAt === undefined ? {} : { writtenAt }),
    isGoing: deletionTimestamp !== undefined,
    isBlank: metadata.annotations === undefined,
    ...(failure === undefined ? {} : { failure }),
    ...(owner === undefined ? {} : { owner }),
  };
}

function failureIn(annotations: Readonly<Record<string, string>>): string | undefined {
  const [, text = ''] = Object.entries(annotations).find(([name]) => isProgress(name)) ?? [];
  if (text === '') return undefined;
  try {
    return ProgressSchema.parse(JSON.parse(text)).message;
  } catch {
    return undefined;
  }
}

function writtenIn(metadata: object): number | undefined {
  const times = TimesSchema.parse('managedFields' in metadata ? metadata.managedFields : [])
    .map(({ time }) => Date.parse(time ?? ''))
    .filter(Number.isFinite);
  return times.length === 0 ? undefined : Math.max(...times);
}
