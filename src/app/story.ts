import type { OutcomeEvent } from '../controller/outcome.ts';
import type { Commit } from '../embedded/types.ts';
import type { KubeObject } from '../kube/api.ts';
import type { Violation } from './watchdog.ts';

/** Who did something. `person`: somebody with kubectl. */
type Actor = 'everwarm' | 'operator' | 'user' | 'person' | 'cluster';

/** Something that happened in the world around Everwarm. */
export interface StoryEvent {
  readonly type: 'Story';
  readonly who: Actor;
  readonly what: string;
  /** The pool's key. */
  readonly pool?: string;
  readonly slot?: string;
}

/** A notice left the forwarder. */
interface NoticeEvent {
  readonly type: 'Notice';
  readonly pool: string;
  readonly object: string;
  readonly reason: string;
  /** How many changes it stands for. */
  readonly coalesced: number;
  /** It was dropped on purpose. */
  readonly lost: boolean;
}

/** All pools of a namespace were looked at, whether or not anything was said. */
interface ResyncEvent {
  readonly type: 'Resync';
  readonly pools: number;
  /** Those that need a pass. */
  readonly enqueued: readonly string[];
}

type ViolationEvent = Violation & { readonly type: 'Violation' };

/** A line of the timeline of `everwarm up`. */
export type TimelineEvent = OutcomeEvent | StoryEvent | NoticeEvent | ResyncEvent | ViolationEvent;

/** Told of each line as it happens; must not throw. */
export type Tell = (event: TimelineEvent) => void;

const INSTANCE = /^instance-([1-9][0-9]*)-/;

/** The names of who writes to the embedded cluster beside Everwarm, as the story calls them. */
export interface Cast {
  readonly everwarm: string;
  readonly operator: string;
  /** The key of the pool that goes by this name here. */
  readonly keyOf: (namespace: string, name: string) => string;
}

/** What a commit means to people who watch; `undefined` for what is of no interest. */
export function storyOf(commit: Commit, cast: Cast): StoryEvent | undefined {
  switch (commit.object.kind) {
    case 'Session':
      return sessionStory(commit, cast);
    case 'Deployment':
      return deploymentStory(commit, cast);
    case 'WarmPool':
      return warmPoolStory(commit, cast);
    default:
      return undefined;
  }
}

/** What a person wants of a pool, and that Everwarm waits for the platform's operator. */
function warmPoolStory({ type, object, previous }: Commit, cast: Cast): StoryEvent | undefined {
  if (type !== 'MODIFIED') return undefined;
  const pool = cast.keyOf(object.metadata.namespace ?? '', object.metadata.name);
  const [was, is] = [record(previous?.['spec']), record(object['spec'])];
  const story = (who: Actor, what: string): StoryEvent => ({ type: 'Story', who, pool, what });
  if (is['paused'] !== was['paused'])
    return story('person', is['paused'] === true ? 'pauses it' : 'resumes it');
  if (is['mode'] !== was['mode']) return story('person', `sets its mode to ${is['mode'] ?? 'the default'}`);
  const since = settlingSince(object);
  if (since === undefined || since === settlingSince(previous)) return undefined;
  return story('everwarm', 'waits 15 s: the operator goes first');
}

/** Since when the platform's operator has the first word, as the status says. */
function settlingSince(warmPool: KubeObject | undefined): unknown {
  const { waiting } = record(warmPool?.['status']);
  const entries = Array.isArray(waiting) ? waiting.map(record) : [];
  return entries.find(({ cause }) => cause === 'settling')?.['since'];
}

function sessionStory({ type, object, previous }: Commit, cast: Cast): StoryEvent | undefined {
  const { user = object.metadata.name, appDefinition = '' } = record(object['spec']);
  const story = (what: string): StoryEvent => ({
    type: 'Story',
    who: 'user',
    pool: cast.keyOf(object.metadata.namespace ?? '', String(appDefinition)),
    ...slotOfClaim(object),
    what,
  });
  if (type === 'ADDED') return story(`${user} asks for an instance`);
  if (type === 'DELETED') return story(`${user} leaves`);
  const was = record(previous?.['status'])['operatorStatus'];
  const is = record(object['status'])['operatorStatus'];
  if (is === was || is !== 'HANDLED') return undefined;
  return story(`${user} is in`);
}

function slotOfClaim({ metadata }: KubeObject): { readonly slot?: string } {
  const slot = metadata.annotations?.['theia-cloud.io/instance-id'];
  return slot === undefined ? {} : { slot };
}

function deploymentStory({ type, object, previous, request }: Commit, cast: Cast): StoryEvent | undefined {
  const slot = INSTANCE.exec(object.metadata.name)?.[1];
  if (slot === undefined) return undefined;
  const owner = object.metadata.ownerReferences?.find(({ kind }) => kind === 'AppDefinition');
  const pool = cast.keyOf(object.metadata.namespace ?? '', owner?.name ?? '');
  const story = (who: Actor, what: string): StoryEvent => ({ type: 'Story', who, pool, slot, what });
  if (type === 'ADDED')
    return request.user === cast.operator
      ? story('operator', `creates it with ${imageOf(object)}`)
      : undefined;
  const isGoing = (one: KubeObject | undefined) => one?.metadata.deletionTimestamp !== undefined;
  if ((type === 'DELETED' || isGoing(object)) && !isGoing(previous))
    return deletionStory(story, request.user, cast);
  const [was, is] = [availableIn(previous), availableIn(object)];
  if (type === 'MODIFIED' && is && !was) return story('cluster', `ready, serving ${imageOf(object)}`);
  return undefined;
}

function deletionStory(
  story: (who: Actor, what: string) => StoryEvent,
  user: string,
  cast: Cast,
): StoryEvent | undefined {
  if (user === cast.everwarm) return undefined;
  if (user === cast.operator) return story('operator', 'deletes its Deployment');
  return user.startsWith('system:')
    ? story('cluster', 'its Deployment is collected')
    : story('person', 'deletes its Deployment by hand');
}

function availableIn(deployment: KubeObject | undefined): boolean {
  const count = record(deployment?.['status'])['availableReplicas'];
  return typeof count === 'number' && count > 0;
}

/** The tag of the image that the instance runs: what a release changes. */
function imageOf(deployment: KubeObject): string {
  const template = record(record(record(deployment['spec'])['template'])['spec']);
  const containers = Array.isArray(template['containers']) ? template['containers'] : [];
  const image = String(record(containers.at(-1))['image'] ?? '');
  return image.slice(image.lastIndexOf('/') + 1);
}

function record(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : {};
}
