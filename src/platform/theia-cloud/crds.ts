import { z } from 'zod';
import { quantityOf } from '../../pool/quantity.ts';
import { wrongIn } from '../wrong.ts';
import type { Parsed } from './parsed.ts';
import { invalid, parsed } from './parsed.ts';

/** A DNS label: the name becomes a container's name, a label's value and a piece of a path. */
const DNS_LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

const NameSchema = z.string().regex(DNS_LABEL, { error: 'is not a DNS label' });
const QuantitySchema = z
  .string()
  .refine((text) => text === '' || quantityOf(text) !== undefined, { error: 'is not a quantity' });

const MetadataSchema = z.looseObject({
  name: z.string().min(1),
  namespace: z.string().min(1),
  uid: z.string().min(12, { error: 'is too short for a uid' }),
  resourceVersion: z.string().min(1),
  generation: z.int().positive(),
  creationTimestamp: z.string().optional(),
  deletionTimestamp: z.string().optional(),
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
});

const PortSchema = z.int().min(1).max(65535);

const SidecarSchema = z.looseObject({
  name: NameSchema,
  image: z.string().min(1, { error: 'is empty' }),
  port: PortSchema,
  languages: z.array(z.string()).optional(),
  cpuLimit: QuantitySchema.optional(),
  memoryLimit: QuantitySchema.optional(),
  cpuRequest: QuantitySchema.optional(),
  memoryRequest: QuantitySchema.optional(),
  mountWorkspace: z.boolean().optional(),
});
export type Sidecar = z.infer<typeof SidecarSchema>;

const AppDefinitionSpecSchema = z.looseObject({
  name: NameSchema,
  image: z.string().min(1, { error: 'is empty' }),
  imagePullPolicy: z.enum(['Always', 'IfNotPresent', 'Never']).optional(),
  pullSecret: z.string().optional(),
  uid: z.int(),
  port: PortSchema,
  ingressname: z.string(),
  minInstances: z.int().min(0),
  maxInstances: z.int().optional(),
  requestsCpu: QuantitySchema.optional(),
  requestsMemory: QuantitySchema.optional(),
  limitsCpu: QuantitySchema.optional(),
  limitsMemory: QuantitySchema.optional(),
  downlinkLimit: z.int().optional(),
  uplinkLimit: z.int().optional(),
  mountPath: z.string().optional(),
  monitor: z.looseObject({ port: z.int().max(65535).optional() }).optional(),
  options: z.record(z.string(), z.union([z.string(), z.number()])).optional(),
  sidecars: z.array(SidecarSchema).optional(),
});

/** An AppDefinition, as v1beta11 and v1beta10 have it: the later one adds `sidecars`, nothing else differs. */
const AppDefinitionSchema = z
  .looseObject({
    apiVersion: z.enum(['theia.cloud/v1beta11', 'theia.cloud/v1beta10']),
    kind: z.literal('AppDefinition'),
    metadata: MetadataSchema,
    spec: AppDefinitionSpecSchema,
    status: z
      .looseObject({ operatorStatus: z.string().optional(), operatorMessage: z.string().optional() })
      .default({}),
  })
  // Sessions find their AppDefinition by metadata.name, limits count by spec.name: only equal names work.
  .refine(({ metadata, spec }) => metadata.name === spec.name, {
    path: ['spec', 'name'],
    error: 'is not equal to metadata.name',
  })
  .refine(({ spec }) => hasUniqueNames(spec.sidecars ?? []), {
    path: ['spec', 'sidecars'],
    error: 'has two of one name',
  })
  .refine(({ spec }) => spec.maxInstances === undefined || spec.minInstances <= spec.maxInstances, {
    path: ['spec', 'minInstances'],
    error: 'is greater than spec.maxInstances',
  });
export type AppDefinition = z.infer<typeof AppDefinitionSchema>;

/** A Session (v1beta8). What is not named here is dropped, for its secret and its environment must not travel with it. */
const SessionSchema = z.object({
  apiVersion: z.literal('theia.cloud/v1beta8'),
  kind: z.literal('Session'),
  metadata: MetadataSchema,
  spec: z.object({
    name: z.string(),
    appDefinition: z.string(),
    user: z.string(),
    workspace: z.string().optional(),
  }),
  status: z
    .object({
      operatorStatus: z.string().optional(),
      operatorMessage: z.string().optional(),
      url: z.string().optional(),
      error: z.string().optional(),
      lastActivity: z.int().optional(),
    })
    .default({}),
});
export type Session = z.infer<typeof SessionSchema>;

/** Reads an AppDefinition as the server sent it; the first wrong field otherwise. */
export function parseAppDefinition(object: unknown): Parsed<AppDefinition> {
  return firstProblem(AppDefinitionSchema, object);
}

/** Reads a Session as the server sent it; the first wrong field otherwise. */
export function parseSession(object: unknown): Parsed<Session> {
  return firstProblem(SessionSchema, object);
}

function hasUniqueNames(sidecars: readonly Sidecar[]): boolean {
  return new Set(sidecars.map(({ name }) => name)).size === sidecars.length;
}

function firstProblem<T>(schema: z.ZodType<T>, object: unknown): Parsed<T> {
  const result = schema.safeParse(object);
  if (result.success) return parsed(result.data);
  const [issue] = result.error.issues;
  const path = issue?.path ?? [];
  const reason = valueAt(object, path) === undefined ? 'is missing' : wrongIn(issue);
  return invalid(path.map(String).join('.'), reason);
}

function valueAt(object: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? Reflect.get(value, key) : undefined),
    object,
  );
}
