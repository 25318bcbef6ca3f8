import { systemClock } from '../../src/clock.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { APP_DEFINITIONS_V1BETA11, DEPLOYMENTS, PODS } from '../../src/platform/theia-cloud/resources.ts';
import { type SlotView, slotViews } from '../../src/simulator/_slot-view.ts';
import { createTruthReader } from '../../src/simulator/truth.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import { agreed, NAMESPACE } from '../real/_installation.ts';
import { type Side, YARD } from './_sides.ts';

/** What one step cost on one side. */
export interface Step {
  readonly side: string;
  readonly step: string;
  /** From the request to the end; for a pool from Everwarm's first write, after the time that is the operator's own. */
  readonly seconds: number;
  /** Everybody's, kubelet and controllers included. */
  readonly requests: number;
  readonly writes: number;
  /** For each instance: Everwarm's own writes; of a Deployment, those of Kubernetes' controllers. */
  readonly writesEach: number;
  readonly cpuMs: number;
  /** Of what `cpuMs` is. */
  readonly cpuOf: string;
  /** Of a fill there is none to tell. */
  readonly fewestReady?: number;
}

/** Whoever wants to know how it goes. */
interface Listener {
  tell(step: Step): void;
  progress(what: string): void;
}

const OLD = 'registry.example.org/ide/java-17:1.0.0';
const NEW = 'registry.example.org/ide/java-17:2.0.0';
const LOOK_EVERY_MS = 50;
const STEP_MS = 300_000;

/** Fills, rolls and mends a plain Deployment, and then a pool of the same size. */
export async function measureSide(side: Side, { tell, progress }: Listener): Promise<void> {
  const pool = watchPool(side);
  const yard = watchYard(side);
  await side.up();
  const measure: Measure = async (measurement, isDone, begin) => {
    progress(`${side.name}: ${measurement.step}`);
    tell(await measured(side, measurement, isDone, begin));
  };
  await measureYard(side, yard, measure);
  const definition = appDefinition('java', { minInstances: 200, maxInstances: 200, image: OLD });
  await measure(
    { step: 'fill 200', size: 200, from: pool.firstPart },
    () => pool.serves(200, OLD),
    () => agreed(side.admin.create(APP_DEFINITIONS_V1BETA11, NAMESPACE, definition)),
  );
  progress(`${side.name}: the pool is made smaller`);
  await change(side, { minInstances: 50 });
  await until('50 instances', () => pool.serves(50, OLD) && pool.slots().length === 50);
  await settled(side);
  pool.restart();
  await measure(
    { step: 'roll out 50', size: 50, from: pool.firstPart, fewest: pool.fewest },
    () => pool.serves(50, NEW),
    () => change(side, { image: NEW }),
  );
  await settled(side);
  pool.restart();
  const lost = pool.slots().find(({ slot }) => slot === '25');
  const name = nameOf(pool.workload('25'));
  await measure(
    { step: 'hand-deleted', size: 1, fewest: pool.fewest },
    () => isAnother(pool.slots(), lost),
    () => agreed(side.admin.delete(DEPLOYMENTS, { namespace: NAMESPACE, name }, {})),
  );
}

type Measure = (
  measurement: Measurement,
  isDone: () => boolean,
  begin: () => Promise<unknown>,
) => Promise<void>;

const nameOf = (object: KubeObject | undefined): string => object?.metadata.name ?? '';

function isAnother(slots: readonly SlotView[], lost: SlotView | undefined): boolean {
  const now = slots.find(({ slot }) => slot === lost?.slot);
  return now?.instance !== undefined && now.instance !== lost?.instance && now.ready && now.claimable;
}

async function measureYard(side: Side, yard: Yard, measure: Measure): Promise<void> {
  const step = (name: string, size: number, isDone: () => boolean, begin: () => Promise<unknown>) => {
    const fewest = name === 'fill 200' ? {} : { fewest: yard.fewest };
    return measure({ step: `Deployment: ${name}`, size, isYard: true, ...fewest }, isDone, begin);
  };
  await step(
    'fill 200',
    200,
    () => yard.serves(200, OLD),
    () => agreed(side.admin.create(DEPLOYMENTS, YARD, PLAIN)),
  );
  await agreed(patchYard(side, { replicas: 50 }));
  await until('50 pods', () => yard.serves(50, OLD));
  yard.restart();
  const image = { template: { spec: { containers: [{ name: 'ide', image: NEW }] } } };
  await step(
    'roll out 50',
    50,
    () => yard.serves(50, NEW),
    () => agreed(patchYard(side, image)),
  );
  const [pod] = yard.pods();
  yard.restart();
  const place = { namespace: YARD, name: nameOf(pod) };
  await step(
    'hand-deleted',
    1,
    () => yard.serves(50, NEW) && yard.pods().every(({ metadata }) => metadata.uid !== pod?.metadata.uid),
    () => agreed(side.admin.delete(PODS, place, {})),
  );
  await agreed(side.admin.delete(DEPLOYMENTS, { namespace: YARD, name: 'plain' }, {}));
  await until('no pod', () => yard.pods().length === 0);
}

interface Measurement {
  readonly step: string;
  readonly size: number;
  readonly fewest?: () => number;
  /** When it began; now unless said. */
  readonly from?: () => number | undefined;
  readonly isYard?: boolean;
}

async function measured(
  side: Side,
  { step, size, fewest, from, isYard = false }: Measurement,
  isDone: () => boolean,
  begin: () => Promise<unknown>,
): Promise<Step> {
  const [before, cpuBefore, began] = [side.count(), side.cpuMs(), systemClock.now()];
  await begin();
  await until(step, isDone);
  const ended = systemClock.now();
  const [after, cpuAfter] = [side.count(), side.cpuMs()];
  const requests = after.requests - before.requests;
  const writesOf = (who: keyof typeof after.writes) => after.writes[who] - before.writes[who];
  return {
    side: side.name,
    step,
    seconds: (ended - (from?.() ?? began)) / 1_000,
    requests,
    writes: writesOf('everwarm') + writesOf('controllers') + writesOf('world'),
    writesEach: writesOf(isYard ? 'controllers' : 'everwarm') / size,
    cpuMs: cpuAfter - cpuBefore,
    cpuOf: side.cpuOf,
    ...(fewest === undefined ? {} : { fewestReady: fewest() }),
  };
}

async function until(what: string, isDone: () => boolean): Promise<void> {
  const end = systemClock.now() + STEP_MS;
  while (!isDone()) {
    if (systemClock.now() > end) throw new Error(`${what}: not there after ${STEP_MS} ms`);
    await systemClock.sleep(LOOK_EVERY_MS);
  }
}

/** Nothing was written for three seconds. */
async function settled(side: Side): Promise<void> {
  let heardAt = systemClock.now();
  const stop = side.onCommit(({ resource }) => {
    if (resource.plural !== 'leases') heardAt = systemClock.now();
  });
  await until('three quiet seconds', () => systemClock.now() - heardAt > 3_000);
  stop();
}

function change(side: Side, spec: Readonly<Record<string, unknown>>): Promise<unknown> {
  const place = { namespace: NAMESPACE, name: 'java' };
  return agreed(side.admin.patch(APP_DEFINITIONS_V1BETA11, place, { type: 'merge', patch: { spec } }));
}

function watchPool(side: Side) {
  const truth = createTruthReader();
  // Counting a large pool at each of its changes would take longer than the changes: while it is filled nobody counts.
  let fewest: number | undefined;
  let firstPart: number | undefined;
  const slots = () => slotViews(truth, 'java');
  const isServing = ({ ready, claimable }: SlotView) => ready && claimable;
  side.onCommit((commit) => {
    const { metadata, kind } = commit.object;
    if (metadata.namespace !== undefined && metadata.namespace !== NAMESPACE) return;
    truth.apply(commit);
    if (!metadata.name.startsWith('instance-')) return;
    firstPart ??= systemClock.now();
    if (fewest !== undefined && (kind === 'Service' || kind === 'Deployment'))
      fewest = Math.min(fewest, slots().filter(isServing).length);
  });
  return {
    slots,
    workload: (slot: string) => truth.workloadOf('java', slot),
    serves: (count: number, image: string) =>
      slots().filter((slot) => isServing(slot) && slot.image === image).length === count,
    fewest: () => fewest ?? 0,
    firstPart: () => firstPart,
    restart: () => {
      fewest = Number.POSITIVE_INFINITY;
      firstPart = undefined;
    },
  };
}

type Yard = ReturnType<typeof watchYard>;

function watchYard(side: Side) {
  const pods = new Map<string, KubeObject>();
  const ready = () => [...pods.values()].filter(isReady);
  let fewest = Number.POSITIVE_INFINITY;
  side.onCommit(({ type, object }) => {
    const { namespace, name } = object.metadata;
    if (namespace !== YARD || object.kind !== 'Pod') return;
    if (type === 'DELETED') pods.delete(name);
    else pods.set(name, object);
    fewest = Math.min(fewest, ready().length);
  });
  return {
    pods: () => [...pods.values()],
    serves: (count: number, image: string) =>
      pods.size === count &&
      ready().filter((pod) => JSON.stringify(pod['spec']).includes(image)).length === count,
    fewest: () => fewest,
    restart: () => {
      fewest = Number.POSITIVE_INFINITY;
    },
  };
}

function isReady(pod: KubeObject): boolean {
  const { conditions = [] } = (pod['status'] ?? {}) as {
    conditions?: readonly { type: string; status: string }[];
  };
  const serves = conditions.some(({ type, status }) => type === 'Ready' && status === 'True');
  return serves && pod.metadata.deletionTimestamp === undefined;
}

const PLAIN = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'plain' },
  spec: {
    replicas: 200,
    selector: { matchLabels: { app: 'plain' } },
    template: { metadata: { labels: { app: 'plain' } }, spec: { containers: [{ name: 'ide', image: OLD }] } },
  },
};

function patchYard(side: Side, spec: Readonly<Record<string, unknown>>) {
  const place = { namespace: YARD, name: 'plain' };
  return side.admin.patch(DEPLOYMENTS, place, { type: 'merge', patch: { spec } });
}
