import type { KubeObject, Resource } from '../../src/kube/api.ts';
import type { KubeClient } from '../../src/kube/client.ts';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  SERVICES,
  SESSIONS,
} from '../../src/platform/theia-cloud/resources.ts';
import { agreed } from './_installation.ts';

/** Definitions and users first: the others refer to them by uid, and the names of instances are made of uids. */
const ORDER: readonly Resource[] = [
  APP_DEFINITIONS_V1BETA11,
  SESSIONS,
  HTTP_ROUTES,
  CONFIG_MAPS,
  SERVICES,
  DEPLOYMENTS,
];

/**
 * Makes recorded objects in `namespace` of a server, under the uids that it gives them. Pods, ReplicaSets and every status
 * but a Session's come of themselves.
 */
export async function replay(
  api: KubeClient,
  namespace: string,
  objects: readonly KubeObject[],
): Promise<void> {
  const uids = new Map<string, string>();
  for (const resource of ORDER) {
    for (const object of objects.filter(({ kind }) => kind === resource.kind)) {
      const made = await agreed(api.create(resource, namespace, freshOf(object, uids)));
      const { uid, generation = 1 } = object.metadata;
      if (uid !== undefined) uids.set(uid, made.metadata.uid ?? '');
      const place = { namespace, name: made.metadata.name };
      if (resource === APP_DEFINITIONS_V1BETA11) await raise(api, place, object, generation);
      if (resource !== SESSIONS || object['status'] === undefined) continue;
      const patch = { status: object['status'] };
      await agreed(api.patch(resource, { ...place, subresource: 'status' }, { type: 'merge', patch }));
    }
  }
}

/** Without what the server gives, and with its uids in place of those that were recorded. */
function freshOf(object: KubeObject, uids: ReadonlyMap<string, string>): unknown {
  const { status: _, metadata, ...rest } = object;
  const { uid, resourceVersion, creationTimestamp, generation, namespace, ...kept } = metadata;
  const { clusterIP, clusterIPs, ...spec } = (rest['spec'] ?? {}) as Record<string, unknown>;
  const body = { ...rest, ...(rest['spec'] === undefined ? {} : { spec }), metadata: kept };
  const text = [...uids].reduce(
    (all, [old, now]) => all.replaceAll(old, now).replaceAll(old.slice(-12), now.slice(-12)),
    JSON.stringify(body),
  );
  return JSON.parse(text);
}

/** The generation labels of instances speak of the AppDefinition's generation: it must be as high as when it was recorded. */
async function raise(
  api: KubeClient,
  place: { readonly namespace: string; readonly name: string },
  object: KubeObject,
  generation: number,
): Promise<void> {
  const { timeout = 0 } = object['spec'] as { timeout?: number };
  for (let at = 1; at < generation; at += 1) {
    const patch = { spec: { timeout: at === generation - 1 ? timeout : timeout + at } };
    await agreed(api.patch(APP_DEFINITIONS_V1BETA11, place, { type: 'merge', patch }));
  }
}
