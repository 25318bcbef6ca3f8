import type { Resource } from '../../kube/api.ts';
import { apiVersionOf, type Kind, type KindVersion } from '../kind.ts';
import type { EmbeddedStore } from '../store.ts';
import { compareVersions } from '../version-order.ts';

/** What clients ask a server about itself before they ask for objects. */

const VERBS = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];
const SUBRESOURCE_VERBS = ['get', 'patch', 'update'];
/** The review of permissions is served, though nothing is stored for it. */
const REVIEWS = { group: 'authorization.k8s.io', version: 'v1' };

export function coreVersions(serverAddress: string): unknown {
  const serverAddressByClientCIDRs = [{ clientCIDR: '0.0.0.0/0', serverAddress }];
  return { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs };
}

export function groupList(store: EmbeddedStore): unknown {
  const groups = [...groupVersions(store).keys()].filter((group) => group !== '');
  return { kind: 'APIGroupList', apiVersion: 'v1', groups: groups.map((group) => groupEntry(store, group)) };
}

/** One group; `undefined` when it is not served. */
export function groupOf(store: EmbeddedStore, group: string): unknown {
  if (group === '' || !groupVersions(store).has(group)) return undefined;
  return { kind: 'APIGroup', apiVersion: 'v1', ...groupEntry(store, group) };
}

function groupEntry(store: EmbeddedStore, group: string) {
  const versions = [...(groupVersions(store).get(group) ?? [])].map((version) => ({
    groupVersion: apiVersionOf({ group, version }),
    version,
  }));
  return { name: group, versions, preferredVersion: versions[0] };
}

/** The served versions of every group, the preferred one first. */
export function groupVersions(store: EmbeddedStore): ReadonlyMap<string, ReadonlySet<string>> {
  const groups = new Map<string, readonly string[]>([[REVIEWS.group, [REVIEWS.version]]]);
  for (const { resource, versions } of store.kinds()) {
    const names = versions.map(({ name }) => name);
    groups.set(resource.group, [...(groups.get(resource.group) ?? []), ...names]);
  }
  return new Map([...groups].map(([group, names]) => [group, new Set(names.toSorted(compareVersions))]));
}

/** Whether there is anything under this version of a group. Asked at every request, so that nothing is made for it. */
export function isServed(store: EmbeddedStore, { group, version }: GroupVersion): boolean {
  if (group === REVIEWS.group && version === REVIEWS.version) return true;
  return store
    .kinds()
    .some(
      ({ resource, versions }) => resource.group === group && versions.some(({ name }) => name === version),
    );
}

type GroupVersion = Pick<Resource, 'group' | 'version'>;

/** The resources of one version of a group; `undefined` when it is not served. */
export function resourceList(store: EmbeddedStore, group: string, version: string): unknown {
  if (!isServed(store, { group, version })) return undefined;
  const resources = store
    .kinds()
    .filter((kind) => kind.resource.group === group)
    .flatMap((kind) =>
      kind.versions.filter(({ name }) => name === version).flatMap((served) => entries(kind, served)),
    );
  const reviews = group === REVIEWS.group ? [REVIEW_ENTRY] : [];
  return {
    kind: 'APIResourceList',
    apiVersion: 'v1',
    groupVersion: apiVersionOf({ group, version }),
    resources: [...resources, ...reviews],
  };
}

const REVIEW_ENTRY = {
  name: 'selfsubjectaccessreviews',
  singularName: 'selfsubjectaccessreview',
  namespaced: false,
  kind: 'SelfSubjectAccessReview',
  verbs: ['create'],
};

function entries(kind: Kind, version: KindVersion): readonly unknown[] {
  const { plural, kind: name, namespaced } = kind.resource;
  const main = {
    name: plural,
    singularName: kind.singular,
    namespaced,
    kind: name,
    verbs: VERBS,
    ...(kind.shortNames.length === 0 ? {} : { shortNames: kind.shortNames }),
    ...(kind.categories.length === 0 ? {} : { categories: kind.categories }),
  };
  const below = { singularName: '', namespaced, verbs: SUBRESOURCE_VERBS };
  return [
    main,
    ...(version.status ? [{ name: `${plural}/status`, ...below, kind: name }] : []),
    ...(version.scale === undefined
      ? []
      : [{ name: `${plural}/scale`, ...below, group: 'autoscaling', version: 'v1', kind: 'Scale' }]),
  ];
}

/** As a server of the version whose behaviour was recorded. */
export const VERSION = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.4+everwarm',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '2026-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: 'embedded',
};
