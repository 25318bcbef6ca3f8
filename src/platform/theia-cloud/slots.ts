import type { KubeObject } from '../../kube/api.ts';
import type { AppDefinition } from './crds.ts';
import { APP_LABEL, SIDECAR_LABEL } from './labels.ts';
import { instanceNames, podSelector, sidecarName, slotOf, volumeClaimName } from './names.ts';
import { present, type SlotParts } from './parts.ts';
import type { Snapshot } from './read.ts';

/** The snapshot arranged by name, once for all pools of a namespace. */
export interface Arranged {
  readonly snapshot: Snapshot;
  readonly services: ReadonlyMap<string, KubeObject>;
  readonly configMaps: ReadonlyMap<string, KubeObject>;
  readonly deployments: ReadonlyMap<string, KubeObject>;
  readonly volumeClaims: ReadonlyMap<string, KubeObject>;
  /** By the value of their `app` label. */
  readonly pods: ReadonlyMap<string, readonly KubeObject[]>;
  /** What sidecars the objects of an instance say they are, wanted or not; by `<slot>/<end of the owner's uid>`. */
  readonly sidecars: ReadonlyMap<string, ReadonlySet<string>>;
  /** Names of all kinds that begin like an instance's. */
  readonly names: readonly string[];
}

/** How much of the owner's uid ends the names of its instances. */
const UID_LENGTH = 12;

export function arrange(snapshot: Snapshot): Arranged {
  const services = byName(snapshot.services);
  const configMaps = byName(snapshot.configMaps);
  const deployments = byName(snapshot.deployments);
  const volumeClaims = byName(snapshot.volumeClaims);
  const names = [services, configMaps, deployments, volumeClaims]
    .flatMap((objects) => [...objects.keys()])
    .filter((name) => name.startsWith('instance-'));
  const pods = podsByApp(snapshot.pods);
  const sidecars = sidecarsBySlot([...snapshot.services, ...snapshot.deployments]);
  return { snapshot, services, configMaps, deployments, volumeClaims, pods, sidecars, names };
}

/** The wanted slots, and every other one under whose names something stands; in rising order. */
export function slotNumbers(arranged: Arranged, source: AppDefinition): readonly number[] {
  const wanted = Array.from({ length: source.spec.minInstances }, (_, at) => at + 1);
  const uid = source.metadata.uid.slice(-UID_LENGTH);
  const found = arranged.names
    .filter((name) => name.includes(uid))
    .map((name) => slotOf(name, source))
    .filter((slot) => slot !== undefined);
  const withSidecars = [...arranged.sidecars.keys()]
    .filter((place) => place.endsWith(`/${uid}`))
    .map((place) => Number.parseInt(place, 10))
    .filter((slot) =>
      sidecarsOf(arranged, source, slot).some((name) => stands(arranged, source, slot, name)),
    );
  return [...new Set([...wanted, ...found, ...withSidecars])].sort((a, b) => a - b);
}

export function partsOf(arranged: Arranged, source: AppDefinition, slot: number): SlotParts {
  const { services, configMaps, deployments, volumeClaims } = arranged;
  const names = instanceNames(source, slot);
  const sidecars = sidecarsOf(arranged, source, slot).flatMap((sidecar) => {
    const name = sidecarName(source, slot, sidecar);
    return [
      [`sidecarService/${sidecar}`, services.get(name)] as const,
      [`sidecarDeployment/${sidecar}`, deployments.get(name)] as const,
    ];
  });
  return present({
    externalService: services.get(names.externalService),
    internalService: services.get(names.internalService),
    proxyConfigMap: configMaps.get(names.proxyConfigMap),
    emailConfigMap: configMaps.get(names.emailConfigMap),
    volumeClaim: volumeClaims.get(volumeClaimName(source, slot)),
    ...Object.fromEntries(sidecars),
    deployment: deployments.get(names.deployment),
  });
}

/** The pods of the IDE. */
export function podsOf(arranged: Arranged, source: AppDefinition, slot: number): readonly KubeObject[] {
  return arranged.pods.get(podSelector(source, slot)) ?? [];
}

/** The pods of all sidecars, wanted or not. */
export function sidecarPodsOf(
  arranged: Arranged,
  source: AppDefinition,
  slot: number,
): readonly KubeObject[] {
  return sidecarsOf(arranged, source, slot).flatMap(
    (sidecar) => arranged.pods.get(sidecarName(source, slot, sidecar)) ?? [],
  );
}

/** The wanted sidecars, and those that an object says it is although nobody wants them any more. */
function sidecarsOf({ sidecars }: Arranged, source: AppDefinition, slot: number): readonly string[] {
  const wanted = (source.spec.sidecars ?? []).map(({ name }) => name);
  const names = new Set(wanted.map((name) => sidecarName(source, slot, name)));
  const said = sidecars.get(`${slot}/${source.metadata.uid.slice(-UID_LENGTH)}`) ?? [];
  // Names are cut: what stands under a wanted one's name is that one, whatever it says.
  const strays = [...said].filter((name) => !names.has(sidecarName(source, slot, name)));
  return [...wanted, ...strays];
}

function stands(arranged: Arranged, source: AppDefinition, slot: number, sidecar: string): boolean {
  const name = sidecarName(source, slot, sidecar);
  return arranged.services.has(name) || arranged.deployments.has(name);
}

function sidecarsBySlot(objects: readonly KubeObject[]): ReadonlyMap<string, ReadonlySet<string>> {
  const sidecars = new Map<string, Set<string>>();
  for (const { metadata } of objects) {
    const sidecar = metadata.labels?.[SIDECAR_LABEL];
    const slot = /^instance-([1-9][0-9]*)-/.exec(metadata.name)?.[1];
    if (sidecar === undefined || slot === undefined) continue;
    const place = `${slot}/${metadata.name.slice(-UID_LENGTH)}`;
    const siblings = sidecars.get(place);
    if (siblings === undefined) sidecars.set(place, new Set([sidecar]));
    else siblings.add(sidecar);
  }
  return sidecars;
}

function podsByApp(pods: readonly KubeObject[]): ReadonlyMap<string, readonly KubeObject[]> {
  const byApp = new Map<string, KubeObject[]>();
  for (const pod of pods) {
    const app = pod.metadata.labels?.[APP_LABEL] ?? '';
    const siblings = byApp.get(app);
    if (siblings === undefined) byApp.set(app, [pod]);
    else siblings.push(pod);
  }
  return byApp;
}

function byName(objects: readonly KubeObject[]): ReadonlyMap<string, KubeObject> {
  return new Map(objects.map((object) => [object.metadata.name, object]));
}
