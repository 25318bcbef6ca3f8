import type { KubeObject } from '../../kube/api.ts';
import type { AppDefinition, Session } from '../../platform/theia-cloud/crds.ts';
import { GENERATION_LABEL } from '../../platform/theia-cloud/labels.ts';
import {
  asValidName,
  instanceNames,
  instancePath,
  plainName,
  podSelector,
  suffixedName,
} from '../../platform/theia-cloud/names.ts';
import { ALLOW_LIST_KEY, renderSlot } from '../../platform/theia-cloud/render.ts';
import type { Settings } from '../../platform/theia-cloud/settings.ts';
import { sessionLabels, sessionReference } from './_operator-claims.ts';
import { sidecarParts } from './_operator-sidecars.ts';

/** A Session's own objects. ConfigMaps only with Keycloak. */
export interface LazyObjects {
  readonly services: readonly [external: KubeObject, internal: KubeObject];
  readonly proxy?: KubeObject;
  readonly emails?: KubeObject;
  readonly deployment: KubeObject;
  readonly sidecars: readonly KubeObject[];
}

interface Ordered {
  readonly app: AppDefinition;
  readonly settings: Settings;
  readonly session: Session;
  readonly template: Readonly<Record<string, string>>;
  /** The claim that its Workspace has its files in. */
  readonly volume: string | undefined;
}

/** Where a Session with objects of its own is published. */
export function lazyPath({ metadata }: Session, { usePaths, instancesPath }: Settings): string {
  return `${usePaths && instancesPath !== '' ? `/${instancesPath}` : ''}/${metadata.uid}`;
}

/** No slot has this number: its objects are there to be renamed. */
const NO_SLOT = 0;

/**
 * The objects of a slot under the Session's names, its user on the allow-list from the first moment. Environment and resources
 * are a slot's: nothing in this world reads them.
 */
export function lazyObjects(order: Ordered): LazyObjects {
  const { app, settings, session, template } = order;
  const slot = renderSlot(app, settings, NO_SLOT, template);
  const rename = renaming(order);
  const own = (object: KubeObject, labels = sessionLabels(session)): KubeObject => {
    const { [GENERATION_LABEL]: _, ...kept } = object.metadata.labels ?? {};
    const ownerReferences = [sessionReference(session)];
    return rename({
      ...object,
      metadata: { ...object.metadata, labels: { ...kept, ...labels }, ownerReferences },
    });
  };
  const { proxyConfigMap, emailConfigMap } = slot;
  const sidecars = sidecarParts(app).flatMap((name) => {
    const object = slot[name];
    return object === undefined ? [] : [own(object, {})];
  });
  return {
    services: [own(slot.externalService), own(slot.internalService)],
    deployment: own(withVolume(slot.deployment, order)),
    ...(proxyConfigMap === undefined ? {} : { proxy: own(proxyConfigMap) }),
    ...(emailConfigMap === undefined
      ? {}
      : { emails: own({ ...emailConfigMap, data: { [ALLOW_LIST_KEY]: session.spec.user } }) }),
    sidecars,
  };
}

/** Replaces every name that belongs to the slot, wherever it stands. */
function renaming({ app, settings, session }: Ordered): (object: KubeObject) => KubeObject {
  const parts = { prefix: 'session', user: session.spec.user, app: app.spec.name, uid: session.metadata.uid };
  const names = instanceNames(app, NO_SLOT);
  const slotParts = { prefix: `instance-${NO_SLOT}`, app: app.spec.name, uid: app.metadata.uid };
  const sidecars = (app.spec.sidecars ?? []).map(
    ({ name }) => [plainName(slotParts, name), suffixedName(parts, name)] as const,
  );
  const pairs: readonly (readonly [from: string, to: string])[] = [
    [names.internalService, suffixedName(parts, 'int')],
    ...sidecars,
    [names.proxyConfigMap, plainName(parts, 'proxy')],
    [names.emailConfigMap, plainName(parts, 'email')],
    [names.deployment, plainName(parts)],
    [instancePath(app, NO_SLOT, settings), lazyPath(session, settings)],
    [`"${podSelector(app, NO_SLOT)}"`, `"${asValidName(`${session.spec.name}-${session.metadata.uid}`)}"`],
  ];
  return (object) =>
    JSON.parse(pairs.reduce((text, [from, to]) => text.replaceAll(from, () => to), JSON.stringify(object)));
}

interface Spec {
  readonly template: {
    readonly metadata: { readonly labels: Readonly<Record<string, string>> };
    readonly spec: {
      readonly containers: readonly Container[];
      readonly volumes?: readonly Volume[];
    };
  };
}
interface Container {
  readonly name: string;
  readonly volumeMounts?: readonly { readonly name: string }[];
}
interface Volume {
  readonly name: string;
  readonly persistentVolumeClaim?: unknown;
}

const USER_DATA = 'user-data';

/** Mounts the Workspace's claim where a slot would mount its own, if at all. */
function withVolume(deployment: KubeObject, { app, session, volume }: Ordered): KubeObject {
  const { spec } = deployment as unknown as { readonly spec: Spec };
  const { containers, volumes = [] } = spec.template.spec;
  const others = volumes.filter(({ persistentVolumeClaim }) => persistentVolumeClaim === undefined);
  const names = new Set(others.map(({ name }) => name));
  const mounted = containers.map((container) => {
    const mounts = (container.volumeMounts ?? []).filter(({ name }) => names.has(name));
    const isIde = volume !== undefined && container.name === app.spec.name;
    const mountPath = app.spec['mountPath'] ?? '/home/project/persisted';
    return { ...container, volumeMounts: isIde ? [...mounts, { name: USER_DATA, mountPath }] : mounts };
  });
  const claims =
    volume === undefined ? [] : [{ name: USER_DATA, persistentVolumeClaim: { claimName: volume } }];
  const { [GENERATION_LABEL]: _, ...labels } = spec.template.metadata.labels;
  const metadata = { labels: { ...labels, ...sessionLabels(session) } };
  const pod = { ...spec.template.spec, containers: mounted, volumes: [...others, ...claims] };
  return { ...deployment, spec: { ...spec, template: { metadata, spec: pod } } };
}
