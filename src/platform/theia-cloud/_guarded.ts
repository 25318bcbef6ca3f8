import type { JsonPatchOperation, KubeObject, Resource } from '../../kube/api.ts';
import type { Request } from '../platform.ts';
import { isGoing } from './instance.ts';
import { CONFIG_MAPS, DEPLOYMENTS, SERVICES } from './resources.ts';

/** Every kind that an instance is made of. */
const RESOURCES: Readonly<Record<string, Resource>> = {
  Service: SERVICES,
  ConfigMap: CONFIG_MAPS,
  Deployment: DEPLOYMENTS,
};

/** Exactly the external Service that was seen: a claim writes on it, and the delete fails. */
export function deleteAnchor(service: KubeObject): Request {
  const { namespace = '', name, uid = '', resourceVersion = '' } = service.metadata;
  return {
    verb: 'delete',
    resource: SERVICES,
    namespace,
    name,
    uid,
    resourceVersion,
    propagation: 'Background',
  };
}

/** Exactly the internal Service that was seen; nothing if it is gone or going. */
export function deleteService(service: KubeObject | undefined): readonly Request[] {
  if (service === undefined || isGoing(service)) return [];
  const { namespace = '', name, uid = '' } = service.metadata;
  return [{ verb: 'delete', resource: SERVICES, namespace, name, uid, propagation: 'Background' }];
}

/** With its resourceVersion, for a claim writes on the Deployment; in the foreground, so that it is gone only after its pods. */
export function deleteDeployment(deployment: KubeObject | undefined): readonly Request[] {
  if (deployment === undefined || isGoing(deployment)) return [];
  const { namespace = '', name, uid = '', resourceVersion = '' } = deployment.metadata;
  return [
    {
      verb: 'delete',
      resource: DEPLOYMENTS,
      namespace,
      name,
      uid,
      resourceVersion,
      propagation: 'Foreground',
    },
  ];
}

/** With its resourceVersion too: a pass that took the slot over writes on the ConfigMaps that it keeps. */
export function deleteConfigMap(configMap: KubeObject | undefined): readonly Request[] {
  if (configMap === undefined || isGoing(configMap)) return [];
  const { namespace = '', name, uid = '', resourceVersion = '' } = configMap.metadata;
  return [
    {
      verb: 'delete',
      resource: CONFIG_MAPS,
      namespace,
      name,
      uid,
      resourceVersion,
      propagation: 'Background',
    },
  ];
}

/** A left-over whose owner is gone: only the very object that was seen. */
export function discard(object: KubeObject): readonly Request[] {
  const resource = resourceOf(object);
  const { namespace = '', name, uid = '', resourceVersion = '' } = object.metadata;
  return [{ verb: 'delete', resource, namespace, name, uid, resourceVersion, propagation: 'Background' }];
}

/** A patch that is refused if anybody wrote since the object was read. */
export function patch(object: KubeObject, operations: readonly JsonPatchOperation[]): Request {
  const { namespace = '', name, resourceVersion = '' } = object.metadata;
  const resource = resourceOf(object);
  const guarded = [
    { op: 'test' as const, path: '/metadata/resourceVersion', value: resourceVersion },
    ...operations,
  ];
  return { verb: 'patch', resource, namespace, name, resourceVersion, patch: guarded };
}

/** The operations that set annotations, whether or not the object has any. */
export function annotate(
  object: KubeObject,
  marks: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  return setEntries('annotations', object.metadata.annotations, marks);
}

/** The operations that set labels, whether or not the object has any. */
export function label(
  object: KubeObject,
  marks: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  return setEntries('labels', object.metadata.labels, marks);
}

function setEntries(
  field: 'labels' | 'annotations',
  standing: Readonly<Record<string, string>> | undefined,
  marks: Readonly<Record<string, string>>,
): readonly JsonPatchOperation[] {
  if (standing === undefined) return [{ op: 'add', path: `/metadata/${field}`, value: marks }];
  return Object.entries(marks).map(([key, value]) => ({
    op: 'add',
    path: `/metadata/${field}/${escaped(key)}`,
    value,
  }));
}

/** A key of labels or annotations as a part of a JSON pointer (RFC 6901). */
export function escaped(key: string): string {
  return key.replaceAll('~', '~0').replaceAll('/', '~1');
}

/** The kind of an instance's part, as its URL names it. */
export function resourceOf({ kind }: KubeObject): Resource {
  const resource = RESOURCES[kind];
  if (resource === undefined) throw new Error(`no instance has a ${kind}`);
  return resource;
}
