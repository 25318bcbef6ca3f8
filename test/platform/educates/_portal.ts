import { readFileSync } from 'node:fs';
import type { KubeApi, KubeObject, ListOptions, Resource } from '../../../src/kube/api.ts';
import { createEducates } from '../../../src/platform/educates/educates.ts';
import type { Observation } from '../../../src/platform/platform.ts';

export const NAMESPACE = 'campus-labs-ui';
/** Two minutes after the recorded portal was made. */
export const NOW = '2026-11-30T16:10:30Z';

/** A recorded object, such as `trainingportal/running`. */
export function recorded(file: string): KubeObject {
  return JSON.parse(readFileSync(new URL(`../../fixtures/educates/${file}.json`, import.meta.url), 'utf8'));
}

/** The object with `change` put over it, member by member. */
export function edited<T>(object: T, change: unknown): T {
  if (typeof change !== 'object' || change === null || Array.isArray(change)) return change as T;
  const base = typeof object === 'object' && object !== null ? object : {};
  const changed = Object.entries(change).map(([name, value]) => [
    name,
    value === undefined ? undefined : edited(Reflect.get(base, name), value),
  ]);
  return Object.fromEntries(
    Object.entries({ ...base, ...Object.fromEntries(changed) }).filter(([, value]) => value !== undefined),
  ) as T;
}

/** The recorded portal with `workshops` for its entries. */
export function portal(workshops?: unknown, settings: object = {}): KubeObject {
  const given = edited(recorded('trainingportal/running'), { spec: { portal: settings } });
  return workshops === undefined ? given : edited(given, { spec: { workshops } });
}

/** A Workshop like the recorded ones. */
export function workshop(name: string, generation = 1, uid?: string): KubeObject {
  return edited(recorded('workshop/lab-java-basics'), {
    metadata: { name, generation, uid: uid ?? `uid-of-${name}` },
  });
}

const JAVA = [recorded('workshop-updated/1-env-before'), recorded('session-reserved/campus-labs-w01-s001')];
const WEB = [
  recorded('workshop-updated-off/1-env-unchanged'),
  recorded('session-reserved/campus-labs-w02-s001'),
];

/** The recorded portal at rest: two entries, an environment and a warm session for each. */
export const AT_REST: readonly KubeObject[] = [
  portal(),
  recorded('workshop/lab-java-basics'),
  recorded('workshop/lab-web-ide'),
  ...JAVA,
  ...WEB,
];

/** The portal with one entry, and `objects` beside it. */
export function only(entry: object, ...objects: readonly KubeObject[]): readonly KubeObject[] {
  return [portal([entry]), ...objects];
}

interface Rights {
  readonly now?: string;
  /** Plurals that may not be read. */
  readonly forbidden?: readonly string[];
  /** Plurals that are not served. */
  readonly absent?: readonly string[];
}

export interface RecordedCluster {
  readonly api: KubeApi;
  /** What was asked for, such as `list secrets (metadata)`. */
  readonly asked: string[];
}

/** A cluster that holds these objects as they were recorded, under their own uids and times. Whoever writes fails. */
export function cluster(objects: readonly KubeObject[], rights: Rights = {}): RecordedCluster {
  const asked: string[] = [];
  const refuse = () => Promise.reject(new Error('nothing is to be written'));
  const serverTime = Date.parse(rights.now ?? NOW);
  const failure = ({ plural }: Resource) => {
    if (rights.absent?.includes(plural)) return { kind: 'notFound', message: `no ${plural}` } as const;
    const isForbidden = rights.forbidden?.includes(plural) === true;
    return isForbidden ? ({ kind: 'forbidden', message: `${plural}: forbidden` } as const) : undefined;
  };
  const api: KubeApi = {
    list: async (resource, options) => {
      asked.push(`list ${resource.plural}${options.metadataOnly === true ? ' (metadata)' : ''}`);
      const failed = failure(resource);
      if (failed !== undefined) return failed;
      const items = objects.filter((object) => isWanted(object, resource, options));
      const read = options.metadataOnly === true ? items.map(metadataOf) : items;
      return { kind: 'ok', value: { resourceVersion: '1', items: read }, serverTime };
    },
    get: async (resource, { namespace, name }) => {
      asked.push(`get ${resource.plural}`);
      const object = objects.find(
        (one) =>
          isWanted(one, resource, namespace === undefined ? {} : { namespace }) && one.metadata.name === name,
      );
      const missing = { kind: 'notFound', message: `no ${name}` } as const;
      return (
        failure(resource) ?? (object === undefined ? missing : { kind: 'ok', value: object, serverTime })
      );
    },
    watch: () => {
      throw new Error('nothing is watched here');
    },
    create: refuse,
    patch: refuse,
    delete: refuse,
  };
  return { api, asked };
}

function isWanted({ kind, metadata }: KubeObject, resource: Resource, options: ListOptions): boolean {
  const labels = (options.labelSelector ?? '').split(',').filter((pair) => pair !== '');
  const isLabelled = labels.every((pair) => {
    const [name = '', value] = pair.split('=');
    return metadata.labels?.[name] === value;
  });
  const isThere = options.namespace === undefined || metadata.namespace === options.namespace;
  return kind === resource.kind && isLabelled && (isThere || !resource.namespaced);
}

function metadataOf({ kind, metadata }: KubeObject): KubeObject {
  return { apiVersion: 'meta.k8s.io/v1', kind, metadata };
}

/** The pool of the recorded portal, as it is seen among `objects`. */
export async function observe(
  objects: readonly KubeObject[],
  rights: Rights & { readonly mode?: 'observe' | 'guard' } = {},
): Promise<Observation> {
  const platform = createEducates({ mode: rights.mode ?? 'observe' });
  const scope = { cluster: 'here', namespace: NAMESPACE };
  const [found] = await platform.observe(cluster(objects, rights).api, scope, { quota: false });
  if (found === undefined) throw new Error('the portal is not seen');
  return found;
}

/** What was found, as `slot Reason: message`. */
export async function found(...given: Parameters<typeof observe>): Promise<readonly string[]> {
  const { findings } = await observe(...given);
  return (findings ?? []).map(({ slot, reason, message }) => `${slot} ${reason}: ${message}`);
}

/** The facts that people are told of one slot. */
export async function facts(slot: string, ...given: Parameters<typeof observe>): Promise<string> {
  const { detailsOf } = await observe(...given);
  return detailsOf?.(slot)?.facts.join('\n') ?? 'no such slot';
}
