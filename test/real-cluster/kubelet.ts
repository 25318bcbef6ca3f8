import { systemClock, systemRandom } from '../../src/clock.ts';
import { createKubelet, type Kubelet, type KubeletOptions } from '../../src/embedded/kubelet.ts';
import { runActors } from '../../src/embedded/runner.ts';
import type { Actor, Store, StoreRequest } from '../../src/embedded/types.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import type { View } from './mirror.ts';
import type { Wire } from './wire.ts';

export interface RemoteKubelet extends Pick<Kubelet, 'fail' | 'setReadyAfter' | 'setMaxPods' | 'dueAt'> {
  stop(): void;
}

const NODE = 'fake-0';

/**
 * The embedded cluster's own scheduler and kubelet, over HTTP: the pods that `view` shows are bound, become ready and end as
 * they do there. What a refused write leaves undone is done when the next change is told.
 */
export function startKubelet(view: View, wire: Wire, options: Partial<KubeletOptions> = {}): RemoteKubelet {
  const store = new RemoteStore(view, wire);
  const kubelet = createKubelet(store, { now: () => systemClock.now(), random: systemRandom, ...options });
  let isLimited = options.maxPods !== undefined;
  const actor: Actor = {
    name: kubelet.name,
    // Who has a place is known when it is told: until then nobody else is given the last one.
    dueAt: () => (isLimited && store.isBinding() ? undefined : kubelet.dueAt()),
    run: () => kubelet.run(),
  };
  const stop = runActors([actor], systemClock, store);
  return {
    fail: (when, failure) => kubelet.fail(when, failure),
    setReadyAfter: (ms) => kubelet.setReadyAfter(ms),
    setMaxPods: (maxPods) => {
      isLimited = maxPods !== undefined;
      kubelet.setMaxPods(maxPods);
    },
    dueAt: () => (store.isBusy() ? systemClock.now() : kubelet.dueAt()),
    stop,
  };
}

/** The one node, on which pods may stand; without it they would be collected as orphans. */
export async function createNode(wire: Wire): Promise<void> {
  const metadata = { name: NODE, labels: { 'kubernetes.io/hostname': NODE } };
  await wire.send('POST', '/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', metadata });
  const room = { cpu: '1000', memory: '4000Gi', pods: '100000' };
  const conditions = [{ type: 'Ready', status: 'True', reason: 'KubeletReady', message: 'ready' }];
  const status = { capacity: room, allocatable: room, conditions };
  await wire.send('PATCH', `/api/v1/nodes/${NODE}/status`, { status }, 'application/merge-patch+json');
}

/** As much of a store as the kubelet asks for: reading is the mirror's, writing is sent off. */
class RemoteStore implements Store {
  readonly #view: View;
  readonly #wire: Wire;
  /** Pods that were given a place and are not yet seen to have it. */
  readonly #binding = new Set<string>();
  #underWay = 0;

  constructor(view: View, wire: Wire) {
    this.#view = view;
    this.#wire = wire;
    view.onCommit(({ type, resource, object }) => {
      if (resource.plural !== 'pods') return;
      const { nodeName } = (object['spec'] ?? {}) as { nodeName?: string };
      if (type === 'DELETED' || nodeName !== undefined) this.#binding.delete(object.metadata.name);
    });
  }

  isBinding(): boolean {
    return this.#binding.size > 0;
  }

  isBusy(): boolean {
    return this.#underWay > 0 || this.isBinding();
  }

  onCommit(listener: Parameters<Store['onCommit']>[0]): () => void {
    return this.#view.onCommit(listener);
  }

  execute(request: StoreRequest) {
    if (request.verb === 'list')
      return { code: 200, body: { items: this.#view.list(request.resource) } as unknown as KubeObject };
    void this.#send(request);
    return { code: 202, body: {} as KubeObject };
  }

  async #send(request: StoreRequest): Promise<void> {
    const { verb, subresource, name = '' } = request;
    if (subresource === 'binding') this.#binding.add(name);
    this.#underWay += 1;
    try {
      const { status } = await this.#wire.send(METHODS[verb] ?? '', pathOf(request), bodyOf(request));
      if (status >= 300) this.#binding.delete(name);
    } catch {
      // No answer and a refusal are alike: the pod is looked at again when it changes.
      this.#binding.delete(name);
    } finally {
      this.#underWay -= 1;
    }
  }

  revision(): number {
    return 0;
  }

  resources() {
    return [];
  }
}

const METHODS: Partial<Record<StoreRequest['verb'], string>> = {
  create: 'POST',
  update: 'PUT',
  delete: 'DELETE',
};

function pathOf({ namespace, name, subresource }: StoreRequest): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}${subresource === undefined ? '' : `/${subresource}`}`;
}

function bodyOf({ verb, body, options }: StoreRequest): unknown {
  return verb === 'delete' ? { kind: 'DeleteOptions', apiVersion: 'v1', ...options } : body;
}
