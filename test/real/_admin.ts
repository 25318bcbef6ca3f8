import type { KubeObject, Place, Resource } from '../../src/kube/api.ts';
import type { Cluster } from '../../src/simulator/cluster.ts';
import type { Mirror } from '../real-cluster/mirror.ts';
import type { WireAnswer } from '../real-cluster/wire.ts';
import type { SyncSend } from './_sync.ts';

type Admin = Cluster['admin'];

/**
 * A person with all rights in one namespace of a real cluster. What the person did is in `mirror` at once. While a request
 * is under way nothing else happens in this process, so what `mirror` follows is read there.
 */
export function adminOf(send: SyncSend, mirror: Mirror, namespace: string): Admin {
  const told = (resource: Resource, verb: 'create' | 'patch', answer: WireAnswer): KubeObject => {
    const object = agreed(answer);
    mirror.learn(resource, object, { verb, user: 'admin' });
    return object;
  };
  const view = mirror.view(namespace);
  const find: Admin['find'] = (resource, name) => {
    if (view.follows(resource)) return view.find(resource, name);
    const answer = send('GET', pathOf(resource, namespace, { name }));
    return answer.status === 404 ? undefined : agreed(answer);
  };
  return {
    create: (resource, body) =>
      told(resource, 'create', send('POST', pathOf(resource, namespace), withKind(resource, body))),
    merge: (resource, place, body) => {
      const where = typeof place === 'string' ? { name: place } : place;
      const path = pathOf(resource, namespace, where);
      return told(resource, 'patch', send('PATCH', path, body, 'application/merge-patch+json'));
    },
    remove: (resource, name, propagationPolicy = 'Background') => {
      const before = find(resource, name);
      if (before === undefined) return false;
      const options = { kind: 'DeleteOptions', apiVersion: 'v1', propagationPolicy };
      const answer = send('DELETE', pathOf(resource, namespace, { name }), options);
      if (answer.status === 404) return false;
      const after = agreed(answer);
      const by = { verb: 'delete', user: 'admin' } as const;
      // What is gone at once is answered with a Status, or with the object as it was.
      if (after.metadata.deletionTimestamp === undefined) mirror.forget(resource, before, by);
      else mirror.learn(resource, after, by);
      return true;
    },
    find,
    list: (resource) => {
      if (view.follows(resource)) return view.list(resource);
      const { items, kind } = agreed(send('GET', pathOf(resource, namespace))) as unknown as {
        items: readonly KubeObject[];
        kind: string;
      };
      return items.map((item) => ({ ...item, kind: item.kind ?? kind.replace(/List$/, '') }));
    },
  };
}

function agreed({ status, text }: WireAnswer): KubeObject {
  const body = JSON.parse(text) as KubeObject;
  if (status >= 200 && status < 300) return body;
  throw new Error(`the server refused an admin's request: ${status} ${body['message']}`);
}

/** The server of a custom kind insists on what the URL says already. */
function withKind({ group, version, kind }: Resource, body: unknown): unknown {
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, ...(body as object) };
}

function pathOf(resource: Resource, namespace: string, place?: Place): string {
  const { group, version, plural, namespaced } = resource;
  const root = group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
  const scope = namespaced ? `/namespaces/${place?.namespace ?? namespace}` : '';
  const name = place === undefined ? '' : `/${place.name}`;
  return `${root}${scope}/${plural}${name}${place?.subresource === undefined ? '' : `/${place.subresource}`}`;
}
