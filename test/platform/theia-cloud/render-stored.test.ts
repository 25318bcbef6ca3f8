import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { createStore } from '../../../src/embedded/store.ts';
import type { KubeObject, Resource } from '../../../src/kube/api.ts';
import { renderSlot } from '../../../src/platform/theia-cloud/render.ts';
import {
  CONFIG_MAPS,
  DEPLOYMENTS,
  NAMESPACES,
  SERVICES,
} from '../../../src/platform/theia-cloud/resources.ts';
import {
  appDefinitionIn,
  find,
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
};
/** What a server gives to each object anew. A Deployment's status and revision come from its controller. */
const MASK: readonly (readonly string[])[] = [
  ['metadata', 'uid'],
  ['metadata', 'resourceVersion'],
  ['metadata', 'creationTimestamp'],
  ['metadata', 'annotations', 'deployment.kubernetes.io/revision'],
  ['spec', 'clusterIP'],
  ['spec', 'clusterIPs'],
];

describe.each([
  ['a-pool-keycloak/objects.json', KEYCLOAK_ARGUMENTS, recordedTemplate()],
  ['b-pool-plain/objects.json', PLAIN_ARGUMENTS, undefined],
])('the recorded pool %s', (file, args, template) => {
  const live = recorded(file);
  const appDefinition = appDefinitionIn(live);

  it.each([1, 2, 3])('is what a server makes of the objects rendered for slot %i', (slot) => {
    const rendered = Object.values(renderSlot(appDefinition, recordedSettings(args), slot, template));
    const stored = createAll(appDefinition.metadata.namespace, rendered);

    expect(stored.map(masked)).toEqual(
      rendered.map((one) => masked(find(live, one.kind, one.metadata.name))),
    );
  });
});

/** The objects as an API server keeps them, each created in an empty namespace. */
function createAll(namespace: string, objects: readonly KubeObject[]): readonly KubeObject[] {
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
  const copy: Record<string, unknown> = structuredClone(object);
  if (object.kind === 'Deployment') delete copy['status'];
  for (const path of MASK) remove(copy, path);
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
