import type { KubeObject } from '../../kube/api.ts';
import type { AppDefinition } from './crds.ts';
import { APP_LABEL } from './labels.ts';
import { instanceNames, podSelector, slotOf } from './names.ts';
import type { Snapshot } from './read.ts';

/** The objects that stand under the names of one slot, whoever owns them. */
export interface SlotParts {
  readonly externalService?: KubeObject;
  readonly internalService?: KubeObject;
  readonly proxyConfigMap?: KubeObject;
  readonly emailConfigMap?: KubeObject;
  readonly deployment?: KubeObject;
}
export type PartName = keyof SlotParts;

/** The snapshot arranged by name, once for all pools of a namespace. */
export interface Arranged {
  readonly snapshot: Snapshot;
  readonly services: ReadonlyMap<string, KubeObject>;
  readonly configMaps: ReadonlyMap<string, KubeObject>;
  readonly deployments: ReadonlyMap<string, KubeObject>;
  /** By the value of their `app` label. */
  readonly pods: ReadonlyMap<string, readonly KubeObject[]>;
  /** Names of all three kinds that begin like an instance's. */
  readonly names: readonly string[];
}

export function arrange(snapshot: Snapshot): Arranged {
  const services = byName(snapshot.services);
  const configMaps = byName(snapshot.configMaps);
  const deployments = byName(snapshot.deployments);
  const pods = new Map<string, KubeObject[]>();
  for (const pod of snapshot.pods) {
    const app = pod.metadata.labels?.[APP_LABEL] ?? '';
    const siblings = pods.get(app);
    if (siblings === undefined) pods.set(app, [pod]);
    else siblings.push(pod);
  }
  const names = [...services.keys(), ...configMaps.keys(), ...deployments.keys()].filter((n) =>
    n.startsWith('instance-'),
  );
  return { snapshot, services, configMaps, deployments, pods, names };
}

/** The wanted slots, and every other one under whose names something stands; in rising order. */
export function slotNumbers(arranged: Arranged, source: AppDefinition): readonly number[] {
  const wanted = Array.from({ length: source.spec.minInstances }, (_, at) => at + 1);
  const uid = source.metadata.uid.slice(-12);
  const found = arranged.names
    .filter((name) => name.includes(uid))
    .map((name) => slotOf(name, source))
    .filter((slot) => slot !== undefined);
  return [...new Set([...wanted, ...found])].sort((a, b) => a - b);
}

export function partsOf(arranged: Arranged, source: AppDefinition, slot: number): SlotParts {
  const names = instanceNames(source, slot);
  return present({
    externalService: arranged.services.get(names.externalService),
    internalService: arranged.services.get(names.internalService),
    proxyConfigMap: arranged.configMaps.get(names.proxyConfigMap),
    emailConfigMap: arranged.configMaps.get(names.emailConfigMap),
    deployment: arranged.deployments.get(names.deployment),
  });
}

export function podsOf(arranged: Arranged, source: AppDefinition, slot: number): readonly KubeObject[] {
  return arranged.pods.get(podSelector(source, slot)) ?? [];
}

function present(parts: Readonly<Record<PartName, KubeObject | undefined>>): SlotParts {
  return Object.fromEntries(Object.entries(parts).filter(([, object]) => object !== undefined));
}

function byName(objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  return new Map(objects.map((object) => [object.metadata.name, object]));
}
