import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { createStore } from '../../../src/embedded/store.ts';
import type { KubeObject, Resource } from '../../../src/kube/api.ts';
import type { AppDefinition } from '../../../src/platform/theia-cloud/crds.ts';
import { generationOf, TEMPLATE_PURPOSE_LABEL } from '../../../src/platform/theia-cloud/labels.ts';
import { instanceNames } from '../../../src/platform/theia-cloud/names.ts';
import { objectsOf } from '../../../src/platform/theia-cloud/parts.ts';
import { ALLOW_LIST_KEY, renderSlot } from '../../../src/platform/theia-cloud/render.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  PERSISTENT_VOLUME_CLAIMS,
  SERVICES,
} from '../../../src/platform/theia-cloud/resources.ts';
import {
  appDefinitionIn,
  FULL_ARGUMENTS,
  HOST_ARGUMENTS,
  KEYCLOAK_ARGUMENTS,
  PLAIN_ARGUMENTS,
  recorded,
  recordedSettings,
  recordedTemplate,
} from './_recorded.ts';

const RESOURCES: Readonly<Record<string, Resource>> = {
  Service: SERVICES,
  ConfigMap: CONFIG_MAPS,
  Deployment: DEPLOYMENTS,
  PersistentVolumeClaim: PERSISTENT_VOLUME_CLAIMS,
};
/** What a server gives to each object anew, what controllers add to it, and what a claim leaves on it. */
const MASK: readonly (readonly string[])[] = [
  ['metadata', 'uid'],
  ['metadata', 'resourceVersion'],
  ['metadata', 'creationTimestamp'],
  ['metadata', 'finalizers'],
  ...[
    'deployment.kubernetes.io/revision',
    'pv.kubernetes.io/bind-completed',
    'pv.kubernetes.io/bound-by-controller',
    'volume.beta.kubernetes.io/storage-provisioner',
    'volume.kubernetes.io/storage-provisioner',
  ].map((annotation) => ['metadata', 'annotations', annotation]),
  ...[
    'theia-cloud.io/user',
    'theia-cloud.io/session',
    'theia-cloud.io/session-uuid',
    'theia-cloud.io/app-definition',
    'app.kubernetes.io/component',
    'app.kubernetes.io/part-of',
  ].map((label) => ['metadata', 'labels', label]),
  ['spec', 'clusterIP'],
  ['spec', 'clusterIPs'],
  ['spec', 'volumeName'],
  ['status'],
];

interface Case {
  readonly file: string;
  readonly args?: readonly string[];
  /** Where the AppDefinition was recorded, if not beside the objects. */
  readonly source?: string;
  readonly slots: readonly number[];
  /** Objects that were made for an older generation, so that they say nothing. */
  readonly older?: readonly string[];
  /** What was recorded of the slots is a part of what stood there. */
  readonly partial?: true;
  /** Objects that did not stand. */
  readonly absent?: readonly string[];
}

const A = 'a-pool-keycloak/objects.json';
const WS = 'c-pool-sidecar-mount/objects.json';
const LS = 'c-pool-sidecar-nomount/objects.json';
const B = 'b-pool-plain/objects.json';
const D = 'd-pool-bridge-monitor-limits/objects.json';

/** What a claimed slot keeps of an older generation: the operator renews its ConfigMaps alone. */
const kept = (...slots: readonly number[]) =>
  slots.flatMap((slot) => [`Deployment ${slot}`, `Service ${slot}`, `Service ${slot}-int`]);
const whole = (...slots: readonly number[]) => [
  ...kept(...slots),
  ...slots.flatMap((slot) => [`ConfigMap ${slot}/emails`, `ConfigMap ${slot}/proxy`]),
];

const CASES: readonly Case[] = [
  { file: A, slots: [1, 2, 3] },
  { file: B, args: PLAIN_ARGUMENTS, slots: [1, 2, 3] },
  { file: 'b-claim-plain/after.json', source: B, args: PLAIN_ARGUMENTS, slots: [1], partial: true },
  { file: LS, slots: [1, 2] },
  { file: WS, slots: [1, 2] },
  { file: 'c-claim-sidecar-nomount/after.json', source: LS, slots: [1], partial: true },
  { file: 'c-claim-sidecar-mount/after.json', source: WS, slots: [1], partial: true },
  {
    file: 'c-modified-sidecar-nomount/after.json',
    slots: [1, 2],
    older: kept(1),
    absent: ['Deployment 1/jdtls-server', 'Deployment 2/jdtls-server'],
  },
  {
    file: 'c-modified-sidecar-mount/after.json',
    slots: [1, 2],
    older: kept(1),
    absent: ['Deployment 1/jdtls-server', 'Deployment 2/jdtls-server'],
  },
  {
    file: 'c-release-sidecar-nomount/after.json',
    slots: [1, 2],
    absent: ['Deployment 2/jdtls-server'],
  },
  { file: 'c-release-sidecar-mount/after.json', slots: [1, 2], absent: ['Deployment 2/jdtls-server'] },
  { file: 'c-claim-sidecar-sorts-first/after.json', slots: [1, 2] },
  { file: 'c-claim-sidecar-sorts-first/after-release-of-first.json', slots: [1, 2] },
  { file: D, args: FULL_ARGUMENTS, slots: [1, 2] },
  { file: 'd-claim-bridge-monitor/before.json', source: D, args: FULL_ARGUMENTS, slots: [1], partial: true },
  { file: 'd-claim-bridge-monitor/after.json', source: D, args: FULL_ARGUMENTS, slots: [1], partial: true },
  { file: 'f-claim-eager/before.json', source: A, slots: [1], partial: true },
  { file: 'f-claim-eager/after.json', source: A, slots: [1], partial: true },
  { file: 'h-release-eager/before.json', source: A, slots: [2], partial: true },
  { file: 'h-release-eager/after.json', source: A, slots: [2], partial: true },
  { file: 'i-scale/0-min3.json', slots: [1, 2, 3] },
  { file: 'i-scale/1-min5.json', slots: [1, 2, 3, 4, 5], older: kept(1, 3) },
  {
    file: 'i-scale/2-min2.json',
    slots: [1, 2, 3],
    older: kept(1, 3),
    absent: ['ConfigMap 3/emails', 'ConfigMap 3/proxy'],
  },
  { file: 'i-scale/3-release-of-retired-slot.json', slots: [1, 2], older: kept(1) },
  { file: 'j-image-change-modified/after.json', slots: [1, 2, 3], older: kept(1) },
  { file: 'k-image-change-while-down/after.json', slots: [1, 2, 3], older: whole(1, 2, 3) },
  { file: 'k-heal-by-annotation/after.json', slots: [1, 2, 3], older: kept(1, 2) },
  { file: 'l-deployment-deleted/after-90s.json', slots: [3], absent: ['Deployment 3'] },
  { file: 'l-deployment-deleted/after-claim-of-broken-slot.json', slots: [3], absent: ['Deployment 3'] },
  { file: 'l-deployment-deleted/after-restart.json', slots: [3] },
  { file: 'm-session-deleted-while-down/0-claimed.json', slots: [3] },
  { file: 'm-session-deleted-while-down/3-reissued.json', slots: [3] },
  { file: 'p-pool-wondershaper-caches-host/objects.json', args: HOST_ARGUMENTS, slots: [1] },
  {
    file: 'x-claim-during-rollout/after.json',
    slots: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    older: ['Deployment 1', 'Deployment 2', 'Deployment 4', 'Deployment 5'],
  },
  {
    file: 'x-slot-leaked-after-shrink/after-release.json',
    slots: [1, 2],
    older: kept(1, 2),
    absent: ['ConfigMap 2/emails', 'ConfigMap 2/proxy'],
  },
  { file: 'x-slot-leaked-after-shrink/after-scale-up.json', slots: [1, 2], older: kept(2) },
];

describe.each(CASES)('$file', ({ file, args = KEYCLOAK_ARGUMENTS, source, slots, ...expected }) => {
  const live = recorded(file);
  const app = appDefinitionIn(source === undefined ? live : recorded(source));
  const template = args === PLAIN_ARGUMENTS ? undefined : recordedTemplate();
  const rendered = slots.flatMap((slot) =>
    objectsOf(renderSlot(app, recordedSettings(args), slot, template)),
  );
  const liveOf = ({ kind, metadata }: KubeObject) =>
    live.find((one) => one.kind === kind && one.metadata.name === metadata.name);
  const isOlder = (object: KubeObject) =>
    (generationOf(object) ?? app.metadata.generation) < app.metadata.generation;

  it('is what a server makes of the objects that are rendered', () => {
    const present = rendered.filter((one) => liveOf(one) !== undefined && !isOlder(liveOf(one) ?? one));
    expect(createAll(app, present).map(masked)).toEqual(present.map((one) => masked(liveOf(one) ?? one)));
  });

  it('lacks nothing of what is rendered but what the case is about', () => {
    const told = (objects: readonly KubeObject[]) => objects.map((one) => spoken(app, one)).sort();
    const missing = rendered.filter((one) => liveOf(one) === undefined);
    const older = rendered.filter((one) => liveOf(one) !== undefined && isOlder(liveOf(one) ?? one));
    expect(told(older)).toEqual([...(expected.older ?? [])].sort());
    if (expected.partial === undefined) expect(told(missing)).toEqual([...(expected.absent ?? [])].sort());
  });
});

/** `Service 1-int`, `Deployment 2/jdtls-server`: an object by its slot and what it is there. */
function spoken(app: AppDefinition, { kind, metadata }: KubeObject): string {
  const slot = Number(metadata.name.split('-')[1]);
  const names = instanceNames(app, slot);
  const sidecar = metadata.labels?.['theia-cloud.io/sidecar'];
  if (sidecar !== undefined) return `${kind} ${slot}/${sidecar}`;
  const purpose = metadata.labels?.[TEMPLATE_PURPOSE_LABEL];
  if (purpose !== undefined) return `${kind} ${slot}/${purpose}`;
  return `${kind} ${slot}${metadata.name === names.internalService ? '-int' : ''}`;
}

/** The objects as an API server keeps them, each created in an empty namespace. */
function createAll({ metadata }: AppDefinition, objects: readonly KubeObject[]): readonly KubeObject[] {
  const { namespace } = metadata;
  const store = createStore({ now: () => Date.parse('2026-11-30T16:08:36Z'), random: seededRandom(1) });
  const create = (resource: Resource | undefined, body: KubeObject) => {
    if (resource === undefined) throw new Error(`${body.kind} is no kind of a slot`);
    const place = resource.namespaced ? { namespace } : {};
    const response = store.execute({ verb: 'create', resource, ...place, body, user: 'everwarm' });
    expect(response).toMatchObject({ code: 201 });
    return response.body;
  };
  create(NAMESPACES, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  return objects.map((one) => create(RESOURCES[one.kind], one));
}

function masked(object: KubeObject): unknown {
  const owners = object.metadata.ownerReferences?.filter(({ kind }) => kind !== 'Session');
  const copy: Record<string, unknown> = structuredClone({
    ...object,
    metadata: { ...object.metadata, ownerReferences: owners },
  });
  for (const path of MASK) remove(copy, path);
  const data = copy['data'];
  if (typeof data === 'object' && data !== null && ALLOW_LIST_KEY in data) data[ALLOW_LIST_KEY] = '';
  return copy;
}

/** Takes the field at `path` away, and a map that is empty without it. */
function remove(fields: unknown, [name, ...rest]: readonly string[]): void {
  if (typeof fields !== 'object' || fields === null || name === undefined) return;
  const inner: unknown = Reflect.get(fields, name);
  if (rest.length > 0) remove(inner, rest);
  const isEmptied = typeof inner === 'object' && inner !== null && Object.keys(inner).length === 0;
  if (rest.length === 0 || isEmptied) Reflect.deleteProperty(fields, name);
}
