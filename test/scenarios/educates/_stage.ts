import { type Clock, seededRandom } from '../../../src/clock.ts';
import { reconcile } from '../../../src/controller/reconcile.ts';
import { createNamespaces, installCrds } from '../../../src/embedded/boot.ts';
import { directApi } from '../../../src/embedded/direct.ts';
import { createGarbageCollector } from '../../../src/embedded/gc.ts';
import { runNext } from '../../../src/embedded/runner.ts';
import { createStore } from '../../../src/embedded/store.ts';
import type { KubeApi, KubeObject, Resource } from '../../../src/kube/api.ts';
import { createEducates } from '../../../src/platform/educates/educates.ts';
import {
  TRAINING_PORTALS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
  WORKSHOPS,
} from '../../../src/platform/educates/resources.ts';
import { WARM_POOLS } from '../../../src/platform/warm-pool.ts';
import { WARM_POOL_CRD } from '../../../src/platform/warm-pool-crd.ts';
import type { PoolStatus } from '../../../src/pool/types.ts';

const PORTAL = 'campus-labs';
const NAMESPACE = `${PORTAL}-ui`;
const LABELS = 'training.educates.dev';
const KEY = { cluster: 'here', platform: 'educates', namespace: NAMESPACE, name: PORTAL };

interface Fields {
  readonly spec: {
    readonly portal: { readonly updates: { readonly workshop: boolean } };
    readonly workshops: readonly {
      readonly name: string;
      readonly alias?: string;
      readonly reserved: number;
    }[];
    readonly workshop: { readonly name: string };
    readonly environment: { readonly name: string };
  };
  readonly status?: {
    readonly educates?: {
      readonly phase?: string;
      readonly workshop?: { readonly uid: string; readonly generation: number };
    };
  };
}
type Given = KubeObject & Fields;

/** What the portal does not do, as observed in real ones. */
export interface Faults {
  /** It never learns that these environments got ready, until the next event about them. */
  readonly losesActivation?: boolean;
  /** session-manager fails with every environment of a Workshop of this generation. */
  readonly failsAt?: number;
  /** It does not run. */
  isDown?: boolean;
}

export interface Stage {
  readonly api: KubeApi;
  /** Requests of Everwarm that were carried out, in the order of their coming, but for statuses. */
  readonly writes: readonly string[];
  readonly faults: Faults;
  list(resource: Resource): readonly Given[];
  merge(resource: Resource, name: string, body: object): void;
  remove(resource: Resource, name: string): void;
  /** Time passes; the portal looks every second. */
  run(ms: number): void;
  /** Called once a second. */
  readonly witnesses: (() => void)[];
  /** One pass of Everwarm, whatever woke it. */
  pass(): Promise<void>;
  /** Passes every ten seconds. */
  guard(ms: number): Promise<void>;
  /** A person writes the WarmPool's spec. */
  say(spec: object): Promise<void>;
  status(): PoolStatus;
}

interface Entry {
  readonly name: string;
  readonly alias?: string;
  readonly reserved?: number;
}

/** A portal with these entries, beside a portal process that behaves as it was observed to (in little). */
export function open(entries: readonly Entry[], faults: Faults = {}): Stage {
  let now = Date.parse('2026-11-30T16:00:00Z');
  const store = createStore({ now: () => now, random: seededRandom(1) });
  installCrds(store, 'test/fixtures/educates/crds');
  installCrds(store, [WARM_POOL_CRD]);
  createNamespaces(store, [NAMESPACE]);
  const collector = createGarbageCollector(store, { now: () => now });
  const world = directStore(store);
  const writes: string[] = [];
  const witnesses: (() => void)[] = [];
  const admin = directApi(store, { user: 'admin', now: () => now });
  const api = noting(directApi(store, { user: 'everwarm', now: () => now }), writes);
  const known = new Map<string, string>();
  const seen = { spec: '' };

  for (const { name } of entries)
    if (world.find(WORKSHOPS, name) === undefined) world.create(WORKSHOPS, workshopOf(name));
  world.create(TRAINING_PORTALS, {
    metadata: { name: PORTAL },
    spec: {
      portal: { sessions: { maximum: 50 }, updates: { workshop: true } },
      workshops: entries.map((entry) => ({
        capacity: 4,
        initial: entry.reserved ?? 1,
        reserved: 1,
        ...entry,
      })),
    },
  });
  world.merge(TRAINING_PORTALS, PORTAL, { status: { educates: { phase: 'Running' } } });

  const tick = (): void => {
    if (!faults.isDown) portalStep({ world, known, seen, faults });
    managerStep(world, faults);
    while (runNext([collector], now)) {}
  };
  const run = (ms: number): void => {
    for (let at = 0; at < ms; at += 1_000) {
      now += 1_000;
      tick();
      for (const witness of witnesses) witness();
    }
  };
  const clock: Clock = { now: () => now, sleep: async (ms) => run(ms), after: () => () => {} };
  const platform = createEducates({ mode: 'guard' });
  let seed = 0;
  const pass = async (): Promise<void> => {
    seed += 1;
    await reconcile({ api, platform, clock, random: seededRandom(seed), report: () => {} }, KEY);
  };
  run(5_000);
  return {
    api,
    writes,
    witnesses,
    faults,
    list: world.list,
    merge: world.merge,
    remove: world.remove,
    run,
    pass,
    guard: async (ms) => {
      for (let at = 0; at < ms; at += 10_000) {
        await pass();
        run(10_000);
      }
    },
    say: async (spec) => {
      const place = { namespace: NAMESPACE, name: PORTAL };
      await admin.patch(WARM_POOLS, place, { type: 'merge', patch: { spec } });
    },
    status: () => (world.list(WARM_POOLS)[0] as unknown as { status: PoolStatus }).status,
  };
}

type World = ReturnType<typeof directStore>;

function directStore(store: ReturnType<typeof createStore>) {
  const must = (request: object): KubeObject => {
    const { code, body } = store.execute({ user: 'portal', ...request } as Parameters<
      typeof store.execute
    >[0]);
    if (code >= 300) throw new Error(`${code} ${JSON.stringify(body['message'])}`);
    return body;
  };
  const list = (resource: Resource): readonly Given[] =>
    (must({ verb: 'list', resource }) as unknown as { items: readonly Given[] }).items;
  return {
    list,
    find: (resource: Resource, name: string) => list(resource).find(({ metadata }) => metadata.name === name),
    create: (resource: Resource, body: object): void => {
      const { group, version, kind } = resource;
      must({ verb: 'create', resource, body: { apiVersion: `${group}/${version}`, kind, ...body } });
    },
    merge: (resource: Resource, name: string, body: object): void => {
      must({ verb: 'patch', resource, name, patchType: 'merge', body });
    },
    remove: (resource: Resource, name: string): void => {
      must({ verb: 'delete', resource, name });
    },
  };
}

function workshopOf(name: string): object {
  return { metadata: { name }, spec: { title: name, description: name, session: {} } };
}

interface Portal {
  readonly world: World;
  /** What it has taken into use, and the last event about it. */
  readonly known: Map<string, string>;
  readonly seen: { spec: string };
  readonly faults: Faults;
}

const slotOf = ({ name, alias }: Given['spec']['workshops'][number]): string => alias ?? name;
const placeOf = ({ metadata }: Given): string => metadata.labels?.[`${LABELS}/portal.workshop`] ?? '';
const isStopping = ({ status }: Given): boolean => status?.educates?.phase === 'Stopping';

/** Its database is `known`: an environment that is not in it was never activated. */
function portalStep({ world, known, seen, faults }: Portal): void {
  const portal = world.find(TRAINING_PORTALS, PORTAL);
  if (portal === undefined) return;
  const wanted = portal.spec.workshops;
  const event = JSON.stringify([wanted, portal.metadata.annotations]);
  const environments = world
    .list(WORKSHOP_ENVIRONMENTS)
    .filter(({ metadata }) => metadata.labels?.[`${LABELS}/portal.uid`] === portal.metadata.uid);
  const live = environments.filter((one) => !isStopping(one));
  for (const one of live) {
    if (!wanted.some((entry) => slotOf(entry) === placeOf(one))) stop(world, one);
    else activate(world, known, one, faults);
  }
  if (event !== seen.spec) {
    seen.spec = event;
    for (const entry of wanted) {
      if (!live.some((one) => placeOf(one) === slotOf(entry))) make(world, portal, entry);
    }
  }
  for (const one of environments.filter(isStopping)) drain(world, one);
  for (const one of live.filter(({ metadata }) => known.get(metadata.name)?.startsWith('on'))) {
    refill(world, one, wanted.find((entry) => slotOf(entry) === placeOf(one))?.reserved ?? 0);
    compare(world, portal, known, one);
  }
}

function stop(world: World, { metadata }: Given): void {
  world.merge(WORKSHOP_ENVIRONMENTS, metadata.name, { status: { educates: { phase: 'Stopping' } } });
}

function activate(
  world: World,
  known: Map<string, string>,
  { metadata, status }: Given,
  faults: Faults,
): void {
  if (status?.educates?.workshop?.uid === undefined || known.get(metadata.name)?.startsWith('on')) return;
  const isPrompted = metadata.annotations?.['everwarm.dev/nudge'] !== undefined;
  if (faults.losesActivation === true && !isPrompted) return;
  const { name } = metadata;
  known.set(name, `on ${workshopEvent(world, name)}`);
}

function workshopEvent(world: World, environment: string): string {
  const name = world.find(WORKSHOP_ENVIRONMENTS, environment)?.spec.workshop.name ?? '';
  const workshop = world.find(WORKSHOPS, name)?.metadata;
  return JSON.stringify([workshop?.generation, workshop?.annotations]);
}

/** It compares at an event about the Workshop, and at no other time. */
function compare(world: World, portal: Given, known: Map<string, string>, one: Given): void {
  const { name } = one.metadata;
  const event = `on ${workshopEvent(world, name)}`;
  if (known.get(name) === event) return;
  known.set(name, event);
  const workshop = world.find(WORKSHOPS, one.spec.workshop.name)?.metadata;
  const isSame = one.status?.educates?.workshop?.generation === workshop?.generation;
  const entry = portal.spec.workshops.find((each) => slotOf(each) === placeOf(one));
  if (isSame || !portal.spec.portal.updates.workshop || entry === undefined) return;
  stop(world, one);
  make(world, portal, entry);
}

function make(world: World, portal: Given, entry: Given['spec']['workshops'][number]): void {
  const taken = world.list(WORKSHOP_ENVIRONMENTS).map(({ metadata }) => Number(metadata.name.slice(-3)));
  const name = `${PORTAL}-w${String(Math.max(0, ...taken) + 1).padStart(3, '0')}`;
  const { uid = '' } = portal.metadata;
  world.create(WORKSHOP_ENVIRONMENTS, {
    metadata: {
      name,
      labels: {
        [`${LABELS}/portal.name`]: PORTAL,
        [`${LABELS}/portal.uid`]: uid,
        [`${LABELS}/portal.workshop`]: slotOf(entry),
      },
      ownerReferences: [{ apiVersion: `${LABELS}/v1beta1`, kind: 'TrainingPortal', name: PORTAL, uid }],
    },
    spec: { workshop: { name: entry.name } },
  });
}

function sessionsOf(world: World, { metadata }: Given): readonly Given[] {
  return world.list(WORKSHOP_SESSIONS).filter(({ spec }) => spec.environment.name === metadata.name);
}

function drain(world: World, one: Given): void {
  const sessions = sessionsOf(world, one);
  const free = sessions.filter(({ status }) => status?.educates?.phase === 'Available');
  for (const { metadata } of free) world.remove(WORKSHOP_SESSIONS, metadata.name);
  if (sessions.length === 0) world.remove(WORKSHOP_ENVIRONMENTS, one.metadata.name);
}

function refill(world: World, one: Given, reserved: number): void {
  const sessions = sessionsOf(world, one);
  const free = sessions.filter(({ status }) => status?.educates?.phase !== 'Allocated');
  if (free.length >= reserved) return;
  const taken = sessions.map(({ metadata }) => Number(metadata.name.slice(-3)));
  const name = `${one.metadata.name}-s${String(Math.max(0, ...taken) + 1).padStart(3, '0')}`;
  const { labels } = one.metadata;
  const { name: owner, uid = '' } = one.metadata;
  world.create(WORKSHOP_SESSIONS, {
    metadata: {
      name,
      labels,
      ownerReferences: [{ apiVersion: `${LABELS}/v1beta1`, kind: 'WorkshopEnvironment', name: owner, uid }],
    },
    spec: {
      environment: { name: owner },
      session: { id: name.slice(-4) },
      workshop: { name: one.spec.workshop.name },
    },
  });
}

/** session-manager: an environment is pinned to the Workshop as it is, a session gets its url. */
function managerStep(world: World, { failsAt }: Faults): void {
  for (const { metadata, spec, status } of world.list(WORKSHOP_ENVIRONMENTS)) {
    if (status?.educates?.phase !== undefined) continue;
    const workshop = world.find(WORKSHOPS, spec.workshop.name);
    if (workshop === undefined) continue;
    const { uid = '', generation = 0 } = workshop.metadata;
    const educates =
      failsAt === generation
        ? { phase: 'Failed', message: 'it cannot be made' }
        : { phase: 'Running', workshop: { name: spec.workshop.name, uid, generation, spec: {} } };
    world.merge(WORKSHOP_ENVIRONMENTS, metadata.name, { status: { educates } });
  }
  for (const { metadata, status } of world.list(WORKSHOP_SESSIONS)) {
    if (status?.educates !== undefined) continue;
    const url = `http://${metadata.name}.labs.example.org`;
    world.merge(WORKSHOP_SESSIONS, metadata.name, { status: { educates: { phase: 'Available', url } } });
  }
}

/** Every write that was carried out, but for statuses and Events. */
function noting(api: KubeApi, writes: string[]): KubeApi {
  const note = <T extends { readonly kind: string }>(outcome: T, text: string): T => {
    if (outcome.kind === 'ok') writes.push(text);
    return outcome;
  };
  return {
    ...api,
    create: async (resource, namespace, body) => {
      const outcome = await api.create(resource, namespace, body);
      return resource.kind === 'Event' ? outcome : note(outcome, `create ${resource.kind}`);
    },
    patch: async (resource, place, change) => {
      const outcome = await api.patch(resource, place, change);
      if (resource.kind === 'Event') return outcome;
      return note(
        outcome,
        `patch ${resource.kind}${place.subresource === undefined ? '' : ` ${place.subresource}`}`,
      );
    },
    delete: async (resource, place, options) =>
      note(await api.delete(resource, place, options), `delete ${resource.kind} ${place.name}`),
  };
}
