import { seededRandom } from '../../../../src/clock.ts';
import { createNamespaces, installCrds } from '../../../../src/embedded/boot.ts';
import { createClaimProtection } from '../../../../src/embedded/claims.ts';
import { createDeploymentController } from '../../../../src/embedded/deployments.ts';
import { directApi } from '../../../../src/embedded/direct.ts';
import { createGarbageCollector } from '../../../../src/embedded/gc.ts';
import { createKubelet } from '../../../../src/embedded/kubelet.ts';
import { createNamespaceController } from '../../../../src/embedded/namespaces.ts';
import { createStore, type EmbeddedStore } from '../../../../src/embedded/store.ts';
import type { KubeApi, KubeObject, Resource } from '../../../../src/kube/api.ts';
import { TRAINING_PORTALS, WORKSHOPS } from '../../../../src/platform/educates/resources.ts';
import { WARM_POOL_CRD } from '../../../../src/platform/warm-pool-crd.ts';
import { advance, type Stage } from '../../../../src/simulator/_time.ts';
import { createVirtualClock, type VirtualClock } from '../../../../src/simulator/virtual-clock.ts';
import type { Fields } from '../../../../src/simulator/world/educates/_hands.ts';
import type { DeliverPortalEvent } from '../../../../src/simulator/world/educates/_kopf.ts';
import { EDUCATES_CRDS } from '../../../../src/simulator/world/educates/educates-crds.ts';
import { createPortal, type Portal } from '../../../../src/simulator/world/educates/portal.ts';
import type { PortalFaults } from '../../../../src/simulator/world/educates/portal-faults.ts';
import {
  createSessionManager,
  type Program,
} from '../../../../src/simulator/world/educates/session-manager.ts';

const START_MS = Date.parse('2026-01-05T09:00:00Z');
const PORTAL = 'campus-labs';
const API_VERSION = 'training.educates.dev/v1beta1';
const SERVICE_ACCOUNT = 'system:serviceaccount:';

export interface EducatesWorldOptions {
  /** The same seed, the same run (default 1). */
  readonly seed?: number;
  /** Where the programs differ from what was observed (default: they have all faults). */
  readonly faults?: Partial<PortalFaults>;
  /** What becomes of each event on its way to the portal. */
  readonly deliver?: DeliverPortalEvent;
  /** What stands between the portal and the server. */
  readonly between?: (api: KubeApi) => KubeApi;
}

/** A cluster with Educates installed, on one clock that moves only when told to. */
export interface EducatesWorld {
  readonly clock: VirtualClock;
  readonly store: EmbeddedStore;
  readonly portal: Portal;
  readonly sessionManager: Program;
  /** What both programs said. */
  readonly log: readonly string[];
  /** The server, for whoever asks under that name (default: a person with all rights). */
  api(user?: string): KubeApi;
  /** A person writes a Workshop, or changes its spec. */
  workshop(name: string, spec?: Fields): Promise<void>;
  /** A person writes the TrainingPortal, or changes its spec (lists as a whole). */
  setPortal(spec: Fields): Promise<void>;
  /** Writes one annotation and nothing else. */
  annotate(resource: Resource, name: string, value: string): Promise<void>;
  all(resource: Resource, namespace?: string): Promise<readonly KubeObject[]>;
  find(resource: Resource, name: string, namespace?: string): Promise<KubeObject | undefined>;
  /** Lets time pass. */
  run(ms: number): Promise<void>;
  /** Lets time pass until `work` is over, a minute at most, and answers with what it came to. */
  through<T>(work: Promise<T>): Promise<T>;
}

/** A world with Educates' kinds, both programs running, and nothing in it yet. */
export async function createEducatesWorld(options: EducatesWorldOptions = {}): Promise<EducatesWorld> {
  const { seed = 1, faults = {}, deliver, between = (api: KubeApi) => api } = options;
  const clock = createVirtualClock(START_MS);
  const { now } = clock;
  const random = seededRandom(seed);
  const store = createStore({ now, random });
  installCrds(store, [...EDUCATES_CRDS, WARM_POOL_CRD]);
  createNamespaces(store, ['educates']);
  const actors = [
    createDeploymentController(store, { now }),
    createKubelet(store, { now, random }),
    createGarbageCollector(store, { now }),
    createNamespaceController(store, { now }),
    createClaimProtection(store, { now }),
  ];
  const stage = { clock, cluster: { actors } };
  const api = (user = 'admin'): KubeApi => directApi(store, { user, now });
  const lines: string[] = [];
  const log = (line: string): void => {
    lines.push(line);
  };
  const common = { clock, random, faults, log };
  const sessionManager = createSessionManager({
    ...common,
    api: api(`${SERVICE_ACCOUNT}educates:session-manager`),
  });
  const portal = createPortal({
    ...common,
    api: between(api(`${SERVICE_ACCOUNT}${PORTAL}-ui:training-portal`)),
    name: PORTAL,
    ...(deliver === undefined ? {} : { deliver }),
  });
  sessionManager.start();
  portal.start();
  await clock.settle();
  const admin = api();
  const write = (resource: Resource, name: string, body: Fields) => put(admin, resource, name, body);
  return {
    clock,
    store,
    portal,
    sessionManager,
    log: lines,
    api,
    workshop: (name, spec = {}) =>
      write(WORKSHOPS, name, { spec: { title: name, description: name, session: {}, ...spec } }),
    setPortal: (spec) => write(TRAINING_PORTALS, PORTAL, { spec }),
    annotate: (resource, name, value) =>
      write(resource, name, { metadata: { annotations: { 'everwarm.dev/nudge': value } } }),
    all: async (resource, namespace) => {
      const listed = await admin.list(resource, namespace === undefined ? {} : { namespace });
      if (listed.kind !== 'ok') throw new Error(listed.message);
      return listed.value.items;
    },
    find: async (resource, name, namespace) => {
      const found = await admin.get(resource, namespace === undefined ? { name } : { name, namespace });
      return found.kind === 'ok' ? found.value : undefined;
    },
    run: (ms) => advance(stage, ms),
    through: (work) => through(stage, work),
  };
}

async function through<T>(stage: Stage, work: Promise<T>): Promise<T> {
  let isOver = false;
  const over = work.finally(() => {
    isOver = true;
  });
  over.catch(() => undefined);
  for (let waited = 0; !isOver && waited < 600; waited += 1) await advance(stage, 100);
  if (!isOver) throw new Error('not over after a minute');
  return over;
}

/** Changes an object, or makes it. */
async function put(api: KubeApi, resource: Resource, name: string, body: Fields): Promise<void> {
  const written = await api.patch(resource, { name }, { type: 'merge', patch: body });
  if (written.kind === 'ok') return;
  const whole = { apiVersion: API_VERSION, kind: resource.kind, metadata: { name }, ...body };
  const made = written.kind === 'notFound' ? await api.create(resource, undefined, whole) : written;
  if (made.kind !== 'ok') throw new Error(`${resource.kind} ${name}: ${made.message}`);
}
