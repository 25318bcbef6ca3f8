import type { KubeObject } from '../kube/api.ts';
import { createWorkList } from './_work-list.ts';
import { CLAIM_FINALIZER } from './builtin/complete.ts';
import { list, record } from './json.ts';
import type { EmbeddedStore } from './store.ts';
import type { Actor } from './types.ts';

const USER = 'system:serviceaccount:kube-system:pvc-protection-controller';
const CLAIMS = { group: '', version: 'v1', plural: 'persistentvolumeclaims' };
const PODS = { group: '', version: 'v1', plural: 'pods' };

/** Lets a deleted PersistentVolumeClaim go once no pod uses it. */
export function createClaimProtection(store: EmbeddedStore, options: { readonly now: () => number }): Actor {
  const { now } = options;
  const work = createWorkList();
  const note = (claim: KubeObject) => {
    if (claim.metadata.deletionTimestamp === undefined) return;
    work.add(`${claim.metadata.namespace}/${claim.metadata.name}`, now());
  };
  for (const claim of list(store.execute({ verb: 'list', resource: CLAIMS, user: USER }).body['items'])) {
    note(claim as KubeObject);
  }
  store.onCommit(({ type, resource, object }) => {
    if (resource.group !== '') return;
    if (resource.plural === 'persistentvolumeclaims' && type !== 'DELETED') note(object);
    if (resource.plural !== 'pods' || type !== 'DELETED') return;
    for (const name of claimsOf(object)) work.add(`${object.metadata.namespace}/${name}`, now());
  });
  return {
    name: 'pvc-protection',
    dueAt: () => work.dueAt(),
    run: () => {
      const key = work.take(now());
      if (key !== undefined) release(store, key);
    },
  };
}

function release(store: EmbeddedStore, key: string): void {
  const [namespace = '', name = ''] = key.split('/');
  const place = { resource: CLAIMS, namespace, name, user: USER };
  const { code, body } = store.execute({ ...place, verb: 'get' });
  const { deletionTimestamp, finalizers = [] } = body.metadata;
  if (code !== 200 || deletionTimestamp === undefined || !finalizers.includes(CLAIM_FINALIZER)) return;
  const pods = list(store.execute({ verb: 'list', resource: PODS, namespace, user: USER }).body['items']);
  if (pods.some((pod) => claimsOf(pod as KubeObject).includes(name))) return;
  const rest = finalizers.filter((finalizer) => finalizer !== CLAIM_FINALIZER);
  const metadata = { finalizers: rest.length === 0 ? null : rest };
  store.execute({ ...place, verb: 'patch', patchType: 'merge', body: { metadata } });
}

/** The claims that a pod mounts. */
function claimsOf(pod: KubeObject): readonly string[] {
  return list(record(pod['spec'])['volumes']).flatMap((volume) => {
    const name = record(record(volume)['persistentVolumeClaim'])['claimName'];
    return typeof name === 'string' ? [name] : [];
  });
}
