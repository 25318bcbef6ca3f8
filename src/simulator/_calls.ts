import type { KubeApi, Outcome, Patch } from '../kube/api.ts';

/** One request of a pass on its way: sent, and neither carried out nor answered yet. */
export interface Call {
  /** As a person would say it: `patch services/instance-1-…`. */
  readonly name: string;
  readonly isWrite: boolean;
  /** The server carries it out. Once. */
  commit(): void;
  /** The answer arrives; of a call that was not carried out, or whose answer got lost, it must be given. */
  answer(instead?: Outcome<never>): void;
}

/** `api` whose calls wait until somebody lets them go on. */
export function withCalls(api: KubeApi, onCall: (call: Call) => void): KubeApi {
  const held = <T>(name: string, isWrite: boolean, send: () => Promise<Outcome<T>>): Promise<Outcome<T>> =>
    new Promise((resolve, reject) => {
      let sent: Promise<Outcome<T>> | undefined;
      onCall({
        name,
        isWrite,
        commit: () => {
          sent ??= send();
        },
        answer: (instead) => {
          if (instead !== undefined) resolve(instead);
          else if (sent === undefined) throw new Error(`${name} is answered before it was carried out`);
          else sent.then(resolve, reject);
        },
      });
    });
  return {
    get: (resource, place) =>
      held(`get ${resource.plural}/${place.name}`, false, () => api.get(resource, place)),
    list: (resource, options) => held(`list ${resource.plural}`, false, () => api.list(resource, options)),
    create: (resource, namespace, body) => {
      const { metadata } = body as { metadata: { name: string } };
      const name = `create ${resource.plural}/${metadata.name}`;
      return held(name, true, () => api.create(resource, namespace, body));
    },
    patch: (resource, place, patch) => {
      const name = `patch ${resource.plural}/${place.name} ${place.subresource ?? changesIn(patch)}`;
      return held(name, true, () => api.patch(resource, place, patch));
    },
    delete: (resource, place, options) =>
      held(`delete ${resource.plural}/${place.name}`, true, () => api.delete(resource, place, options)),
    watch: api.watch,
  };
}

/** `add ownerReferences/-, building`: what a patch changes, by the last words of its paths. */
function changesIn({ type, patch }: Patch): string {
  if (type === 'merge') return Object.keys(patch).join(', ');
  const changes = patch.filter(({ op }) => op !== 'test');
  return changes
    .map(({ op, path }) => `${op} ${path.replace(/^\/metadata\//, '').replace('~1', '/')}`)
    .join(', ');
}
