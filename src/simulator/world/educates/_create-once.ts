import type { Clock } from '../../../clock.ts';
import type { KubeObject, Resource } from '../../../kube/api.ts';
import { type Fields, type Hands, numberAt, textAt } from './_hands.ts';
import type { PortalEvent } from './_kopf.ts';

const PREFIX = 'kopf.zalando.org/';
const LAST_HANDLED = `${PREFIX}last-handled-configuration`;
const TOUCH = `${PREFIX}touch-dummy`;

/** What one try to build an object came to; `status` is merged into `status.educates`. */
export type Verdict = { readonly kind: 'done'; readonly status: Fields } | Retry;

interface Retry {
  readonly kind: 'retry';
  readonly afterMs: number;
  readonly message: string;
  /** None when even the status is not written. */
  readonly status?: Fields;
}

/** One handler: each object is built once, however often it is tried. `since`: when it was tried first. */
interface Builder {
  readonly resource: Resource;
  readonly handler: string;
  build(object: KubeObject, since: number): Promise<Verdict>;
}

/**
 * The way in which session-manager handles a kind: an object without the mark of being handled is built, and marked when that is
 * over; what is to be tried again says so in an annotation and in its status; a mark that is no longer true is written anew.
 */
export function createOnce(
  { resource, handler, build }: Builder,
  hands: Hands,
  clock: Clock,
): (event: PortalEvent) => Promise<void> {
  const progress = `${PREFIX}${handler}`;
  const waiting = new Set<string>();
  const wakeLater = ({ metadata }: KubeObject, ms: number): void => {
    const uid = metadata.uid ?? '';
    if (waiting.has(uid)) return;
    waiting.add(uid);
    clock.after(ms, () => {
      waiting.delete(uid);
      if (hands.signal.aborted) return;
      const dummy = stamp(clock.now());
      const patch = { metadata: { annotations: { [TOUCH]: dummy } }, status: { kopf: { dummy } } };
      hands.merge(resource, metadata.name, patch).catch(() => undefined);
    });
  };
  return async ({ type, object }) => {
    if (type === 'DELETED') return;
    const { name, annotations = {} } = object.metadata;
    const essence = essenceOf(object);
    const handled = annotations[LAST_HANDLED];
    if (handled === essence) return;
    if (handled !== undefined) {
      await hands.merge(resource, name, { metadata: { annotations: { [LAST_HANDLED]: essence } } });
      return;
    }
    const before = readProgress(annotations[progress]);
    const delayed = timeAt(before, 'delayed') ?? 0;
    if (delayed > hands.now()) return wakeLater(object, delayed - hands.now());
    const since = timeAt(before, 'started') ?? hands.now();
    const verdict = await build(object, since);
    const patch =
      verdict.kind === 'done'
        ? overPatch(verdict.status, essence, before === undefined ? undefined : progress)
        : againPatch(verdict, handler, noteOf(verdict, before, since, hands.now()));
    await hands.merge(resource, name, patch);
  };
}

/** The object is marked, and what was said of earlier tries is taken away. */
function overPatch(educates: Fields, essence: string, progress: string | undefined): Fields {
  const marks = progress === undefined ? {} : { [progress]: null, [TOUCH]: null };
  const kopf = progress === undefined ? {} : { kopf: { progress: null, dummy: null } };
  const annotations = { [LAST_HANDLED]: essence, ...marks };
  return { metadata: { annotations }, status: { educates, ...kopf } };
}

/** What is said of a try that is not the last, in an annotation and in the status. */
function againPatch({ status }: Retry, handler: string, note: Fields): Fields {
  return {
    metadata: { annotations: { [`${PREFIX}${handler}`]: JSON.stringify(note), [TOUCH]: null } },
    status: {
      ...(status === undefined ? {} : { educates: status }),
      kopf: { progress: { [handler]: note }, dummy: null },
    },
  };
}

function noteOf({ afterMs, message }: Retry, before: unknown, since: number, now: number): Fields {
  const retries = (numberAt(before, 'retries') ?? 0) + 1;
  const times = { started: stamp(since), delayed: stamp(now + afterMs) };
  return { ...times, purpose: 'create', retries, success: false, failure: false, message };
}

function timeAt(note: unknown, field: string): number | undefined {
  return Date.parse(textAt(note, field) ?? '') || undefined;
}

/** Everything about an object that its maker says, and nothing that the programs or the server say. */
function essenceOf(object: KubeObject): string {
  const { labels = {}, annotations = {} } = object.metadata;
  const own = Object.entries(annotations).filter(([name]) => !name.startsWith(PREFIX));
  const metadata = {
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(own.length === 0 ? {} : { annotations: Object.fromEntries(own) }),
  };
  const spec = object['spec'];
  return `${JSON.stringify(Object.keys(metadata).length === 0 ? { spec } : { spec, metadata })}\n`;
}

function readProgress(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}

const stamp = (ms: number): string => new Date(ms).toISOString();
