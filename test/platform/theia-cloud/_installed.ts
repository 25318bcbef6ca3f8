import { seededRandom } from '../../../src/clock.ts';
import { createNamespaces, installCrds } from '../../../src/embedded/boot.ts';
import { directApi } from '../../../src/embedded/direct.ts';
import { createStore, type EmbeddedStore } from '../../../src/embedded/store.ts';
import type { Commit } from '../../../src/embedded/types.ts';
import type { KubeApi, KubeObject, Resource } from '../../../src/kube/api.ts';
import { PROXY_TEMPLATE_NAME } from '../../../src/platform/theia-cloud/resources.ts';
import type { Settings } from '../../../src/platform/theia-cloud/settings.ts';
import { WARM_POOL_CRD } from '../../../src/platform/warm-pool-crd.ts';
import { installOperatorDeployment, RECORDED_SETTINGS } from '../../../src/simulator/world/theia-install.ts';
import { recorded } from './_recorded.ts';

export const NAMESPACE = 'theia-demo';
const EVERWARM = 'everwarm';
const ROUTE_NAME = 'ide-instances-route';

/** A cluster that holds recorded objects as they were, under the uids that this cluster gave them. */
export interface Installed {
  readonly store: EmbeddedStore;
  readonly api: KubeApi;
  readonly commits: readonly Commit[];
  now(): number;
  /** Lets time pass. */
  wait(ms: number): void;
  /** Somebody else writes, or makes an object anew. */
  patch(kind: string, name: string, body: object): void;
  remove(kind: string, name: string): void;
  remake(kind: string, name: string, edit: (text: string) => string): void;
  /** Everwarm's committed writes, such as `patch services/a`. */
  writes(): readonly string[];
  find(kind: string, name: string): KubeObject | undefined;
}

/** Definitions and users first: the others refer to them by uid, and the names of instances are made of uids. */
const FIRST = ['AppDefinition', 'Session'];

/**
 * Puts `objects` into a fresh cluster beside the operator's Deployment, whose arguments say `given`; times are those of the
 * recording.
 */
export async function install(
  objects: readonly KubeObject[],
  keycloak = true,
  given: Partial<Settings> = {},
): Promise<Installed> {
  const clock = { ms: Date.parse('2026-11-30T16:10:00Z') };
  const now = () => clock.ms;
  const store = createStore({ now, random: seededRandom(1) });
  installCrds(store, 'test/fixtures/theia-cloud/crds');
  installCrds(store, [WARM_POOL_CRD]);
  createNamespaces(store, [NAMESPACE]);
  const admin = directApi(store, { user: 'admin', now });
  const off = { keycloak: false, keycloakUrl: '', keycloakRealm: '', keycloakClientId: '' };
  const settings = { ...RECORDED_SETTINGS, ...(keycloak ? {} : off), ...given };
  await installOperatorDeployment(admin, { namespace: NAMESPACE, settings });
  await load(store, [...sharedBeside(objects, keycloak), ...objects]);

  const commits: Commit[] = [];
  store.onCommit((commit) => commits.push(commit));
  const everything = () => store.resources().filter(({ namespaced }) => namespaced);
  const place = (kind: string, name: string) => {
    const resource = everything().find((one) => one.kind === kind && get(store, one, name) !== undefined);
    if (resource === undefined) throw new Error(`there is no ${kind} ${name}`);
    return { resource, namespace: NAMESPACE, name, user: 'admin' };
  };
  return {
    store,
    api: directApi(store, { user: EVERWARM, now }),
    commits,
    now,
    wait: (ms) => {
      clock.ms += ms;
    },
    patch: (kind, name, body) => {
      const { code } = store.execute({ ...place(kind, name), verb: 'patch', patchType: 'merge', body });
      if (code !== 200) throw new Error(`patching ${kind} ${name}: ${code}`);
    },
    remove: (kind, name) => {
      store.execute({ ...place(kind, name), verb: 'delete' });
    },
    remake: (kind, name, edit) => {
      const target = place(kind, name);
      const { status: _, metadata, ...rest } = get(store, target.resource, name) as KubeObject;
      const { uid: _uid, resourceVersion, generation, creationTimestamp, finalizers, ...kept } = metadata;
      store.execute({
        ...target,
        verb: 'patch',
        patchType: 'merge',
        body: { metadata: { finalizers: null } },
      });
      store.execute({ ...target, verb: 'delete' });
      const body = JSON.parse(edit(JSON.stringify({ metadata: kept, ...rest })));
      const { name: _name, ...anywhere } = target;
      const { code } = store.execute({ ...anywhere, verb: 'create', body });
      if (code !== 201) throw new Error(`making ${kind} ${name} anew: ${code}`);
    },
    writes: () => commits.filter(({ request }) => request.user === EVERWARM).map(said),
    find: (kind, name) =>
      everything()
        .filter((resource) => resource.kind === kind)
        .map((resource) => get(store, resource, name))
        .find((object) => object !== undefined),
  };
}

/** What stood in the namespace of every recording, where a case does not show it. */
function sharedBeside(objects: readonly KubeObject[], keycloak: boolean): readonly KubeObject[] {
  const names = keycloak ? [PROXY_TEMPLATE_NAME, ROUTE_NAME] : [ROUTE_NAME];
  const missing = names.filter((name) => objects.every(({ metadata }) => metadata.name !== name));
  return recorded('a-pool-keycloak/objects.json')
    .filter(({ metadata }) => missing.includes(metadata.name))
    .map(
      ({ metadata: { ownerReferences: _, ...metadata }, ...object }) =>
        ({ ...object, metadata }) as KubeObject,
    );
}

function said({ request, resource, object }: Commit): string {
  const sub = request.subresource === undefined ? '' : `/${request.subresource}`;
  return `${request.verb} ${resource.plural}${sub}/${object.metadata.name}`;
}

async function load(store: EmbeddedStore, objects: readonly KubeObject[]): Promise<void> {
  const order = (o: KubeObject) => (FIRST.includes(o.kind) ? FIRST.indexOf(o.kind) : FIRST.length);
  const uids = new Map<string, string>();
  for (const object of [...objects].sort((a, b) => order(a) - order(b))) {
    const mapped = JSON.parse(renamed(JSON.stringify(object), uids)) as KubeObject;
    const { status, metadata, ...rest } = mapped;
    const { uid, resourceVersion, creationTimestamp, generation, namespace, ...kept } = metadata;
    const [resource] = store
      .resources()
      .filter((r) => r.kind === mapped.kind && apiVersion(r) === mapped.apiVersion);
    if (resource === undefined) throw new Error(`${mapped.apiVersion} ${mapped.kind} is not served`);
    const body = asFirstMade({ ...rest, metadata: { ...kept, namespace: NAMESPACE } }, generation ?? 1);
    const target = { resource, namespace: NAMESPACE, user: 'admin' };
    const made = store.execute({ ...target, verb: 'create', body });
    if (made.code !== 201) throw new Error(`${mapped.kind} ${metadata.name}: ${JSON.stringify(made.body)}`);
    if (uid !== undefined) uids.set(uid, made.body.metadata.uid ?? '');
    raiseGeneration(store, target, made.body, generation ?? 1);
    if (status === undefined) continue;
    const patched = {
      verb: 'patch',
      subresource: 'status',
      name: metadata.name,
      patchType: 'merge',
    } as const;
    store.execute({ ...target, ...patched, body: { status } });
  }
}

/** Each generation is another spec: the first of several differs from the recorded one. */
const FIRST_TIMEOUT = 100;

function asFirstMade(object: KubeObject, generation: number): KubeObject {
  if (object.kind !== 'AppDefinition' || generation === 1) return object;
  const { timeout = 0, ...spec } = object['spec'] as { timeout?: number };
  return { ...object, spec: { ...spec, timeout: timeout + FIRST_TIMEOUT } };
}

/** The generation labels of instances speak of the AppDefinition's generation: it must be as high as when it was recorded. */
function raiseGeneration(
  store: EmbeddedStore,
  target: { resource: Resource; namespace: string; user: string },
  object: KubeObject,
  generation: number,
): void {
  if (object.kind !== 'AppDefinition') return;
  const { timeout = 0 } = object['spec'] as { timeout?: number };
  for (let at = 1; at < generation; at += 1) {
    const body = { spec: { timeout: at === generation - 1 ? timeout - FIRST_TIMEOUT : timeout + at } };
    store.execute({ ...target, verb: 'patch', name: object.metadata.name, patchType: 'merge', body });
  }
  const raised = get(store, target.resource, object.metadata.name)?.metadata.generation;
  if (raised !== generation) throw new Error(`generation is ${raised}, not ${generation}`);
}

function renamed(text: string, uids: ReadonlyMap<string, string>): string {
  return [...uids].reduce(
    (all, [old, uid]) => all.replaceAll(old, uid).replaceAll(old.slice(-12), uid.slice(-12)),
    text,
  );
}

function get(store: EmbeddedStore, resource: Resource, name: string): KubeObject | undefined {
  const response = store.execute({ verb: 'get', resource, namespace: NAMESPACE, name, user: 'admin' });
  return response.code === 200 ? response.body : undefined;
}

function apiVersion({ group, version }: Resource): string {
  return group === '' ? version : `${group}/${version}`;
}
