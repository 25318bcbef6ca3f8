import { createHash } from 'node:crypto';
import type { Failure, KubeApi, KubeObject, OwnerReference, Resource } from '../kube/api.ts';
import { timestamp } from '../pool/status.ts';
import { gathered, type Happening, isDeed, messageOf } from './events.ts';

export const EVENTS: Resource = {
  group: '',
  version: 'v1',
  kind: 'Event',
  plural: 'events',
  namespaced: true,
};

/** What Events are about, and when. */
export interface Subject {
  readonly namespace: string;
  readonly pool: string;
  /** The pool's own object and its definition: both tell the same. */
  readonly objects: readonly OwnerReference[];
  /** The API server's clock, epoch ms. */
  readonly now: number;
}

const COMPONENT = 'everwarm';
/** To what the deeds of an Event were done: the next one of its minute adds to it. */
const TOLD_ANNOTATION = 'everwarm.dev/told';
/** Deeds of one kind are told in one Event a minute; a state has one Event, whenever it comes again. */
const MINUTE_MS = 60_000;
/** The same sentence is not counted again so soon: what flickers costs no writes. */
const QUIET_MS = 10_000;
/** The most kinds of happenings that one pass tells of. */
const KINDS_MAX = 16;
const NAME_MAX = 200;
/** Another pass told the same a moment ago, or the Event's time is over: nobody misses this one. */
const OUTRUN: ReadonlySet<string> = new Set(['conflict', 'invalid', 'notFound']);

/**
 * Writes one Event for each kind of happening and each object. The names are made of what happened: whoever writes the same
 * again counts up the Event that stands. Gives up at the first failure, and answers with it: Events are worth no retry.
 */
export async function writeEvents(
  api: KubeApi,
  subject: Subject,
  happenings: readonly Happening[],
  hasTime: () => boolean,
): Promise<Failure | undefined> {
  for (const happening of gathered(happenings).slice(0, KINDS_MAX)) {
    for (const object of subject.objects) {
      if (!hasTime()) return undefined;
      const failure = await write(api, subject, object, happening);
      if (failure !== undefined) return failure;
    }
  }
  return undefined;
}

async function write(
  api: KubeApi,
  subject: Subject,
  object: OwnerReference,
  happening: Happening,
): Promise<Failure | undefined> {
  const body = eventOf(subject, object, happening);
  const created = await api.create(EVENTS, subject.namespace, body);
  if (created.kind === 'ok') return undefined;
  if (created.kind !== 'exists') return created;
  const place = { namespace: subject.namespace, name: body.metadata.name };
  const standing = await api.get(EVENTS, place);
  if (standing.kind !== 'ok') return standing.kind === 'notFound' ? undefined : standing;
  const patch = countedUp(standing.value, subject, happening);
  if (patch.length === 0) return undefined;
  const patched = await api.patch(EVENTS, place, { type: 'json', patch });
  return patched.kind === 'ok' || OUTRUN.has(patched.kind) ? undefined : patched;
}

function eventOf(subject: Subject, object: OwnerReference, happening: Happening): KubeObject {
  const { namespace, now } = subject;
  const { apiVersion, kind, name, uid } = object;
  const at = timestamp(now);
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: {
      name: nameOf(subject, object, happening),
      namespace,
      ...(isDeed(happening) ? { annotations: { [TOLD_ANNOTATION]: happening.things.join(',') } } : {}),
    },
    involvedObject: { apiVersion, kind, namespace, name, uid },
    reason: happening.reason,
    type: happening.type,
    message: messageOf(happening),
    source: { component: COMPONENT },
    reportingComponent: COMPONENT,
    reportingInstance: COMPONENT,
    firstTimestamp: at,
    lastTimestamp: at,
    count: 1,
  };
}

function nameOf({ pool, now }: Subject, { uid }: OwnerReference, happening: Happening): string {
  const minute = isDeed(happening) ? String(Math.floor(now / MINUTE_MS)) : '';
  const what = [uid, happening.reason, happening.key, minute].join('\n');
  const hash = createHash('sha256').update(what).digest('hex').slice(0, 16);
  return `${pool.slice(0, NAME_MAX)}.${hash}`;
}

/** The patch that tells the same once more; empty when it was told a moment ago. */
function countedUp({ metadata, ...event }: KubeObject, { now }: Subject, happening: Happening) {
  const before = (metadata.annotations?.[TOLD_ANNOTATION] ?? '').split(',').filter((thing) => thing !== '');
  const message = messageOf(happening, before);
  const last = Date.parse(String(event['lastTimestamp'] ?? ''));
  if (message === event['message'] && now - last < QUIET_MS) return [];
  const told = isDeed(happening) ? [...new Set([...before, ...happening.things])].join(',') : undefined;
  const count = typeof event['count'] === 'number' ? event['count'] + 1 : 1;
  return [
    { op: 'test' as const, path: '/metadata/resourceVersion', value: metadata.resourceVersion },
    { op: 'add' as const, path: '/count', value: count },
    { op: 'add' as const, path: '/lastTimestamp', value: timestamp(now) },
    { op: 'add' as const, path: '/message', value: message },
    ...(told === undefined
      ? []
      : [
          {
            op: 'add' as const,
            path: '/metadata/annotations',
            value: { ...metadata.annotations, [TOLD_ANNOTATION]: told },
          },
        ]),
  ];
}
