/** The platform's own naming, exactly: a running installation is adopted by these names, and a roll-back relies on them. */

const NAME_LIMIT = 62;
const SHORT_UID_LENGTH = 12;
const SEGMENT_ALONE = 17;
const SEGMENT_WITH_IDENTIFIER = 11;

/** The part of an AppDefinition that gives its instances their names. */
export interface NamingSource {
  readonly metadata: { readonly uid: string };
  readonly spec: { readonly name: string };
}

/** What a name is made of. `app` is the AppDefinition's spec.name, `uid` the owner's metadata.uid. */
export interface NameParts {
  readonly prefix: string;
  readonly user?: string;
  readonly app: string;
  readonly uid: string;
}

/** The names of one slot's objects. The external Service and the Deployment share theirs. */
export interface InstanceNames {
  readonly externalService: string;
  readonly internalService: string;
  readonly deployment: string;
  readonly proxyConfigMap: string;
  readonly emailConfigMap: string;
}

/** `text` bent into something that Kubernetes accepts as a name: never empty, at most `limit` characters. */
export function asValidName(text: string, limit = NAME_LIMIT): string {
  const dashed = text.replace(/[^a-z0-9A-Z-]/g, '-');
  const lettered = /^[a-zA-Z]/.test(dashed) ? dashed : `a${dashed}`;
  const cut = lettered.slice(0, limit);
  return cut.replace(/[^a-zA-Z0-9]$/, 'z').toLowerCase();
}

/** `<prefix>[-<identifier>][-<user>]-<app>-<short uid>`, its segments cut to 17 characters, or to 11 beside an identifier. */
export function plainName(parts: NameParts, identifier?: string): string {
  const limit = identifier === undefined ? SEGMENT_ALONE : SEGMENT_WITH_IDENTIFIER;
  return joined([
    parts.prefix,
    identifier?.slice(0, limit),
    userName(parts.user)?.slice(0, limit),
    parts.app.slice(0, limit),
    shortUid(parts.uid),
  ]);
}

/**
 * `<prefix>[-<user>]-<app>-<short uid>-<suffix>`. The platform's budget forgets two separators: beside a long user *and* a
 * long app the suffix loses its last characters, and so it does here.
 */
export function suffixedName(parts: NameParts, suffix: string): string {
  const fixed = parts.prefix.length + 1 + SHORT_UID_LENGTH;
  const limit = Math.max(1, Math.floor((NAME_LIMIT - (suffix.length + 1) - fixed) / 2));
  return joined([
    parts.prefix,
    userName(parts.user)?.slice(0, limit),
    parts.app.slice(0, limit),
    shortUid(parts.uid),
    suffix,
  ]);
}

/** The names that `source` gives to the objects of `slot`. */
export function instanceNames(source: NamingSource, slot: number): InstanceNames {
  const parts = { prefix: `instance-${slot}`, app: source.spec.name, uid: source.metadata.uid };
  const main = plainName(parts);
  return {
    externalService: main,
    internalService: suffixedName(parts, 'int'),
    deployment: main,
    proxyConfigMap: plainName(parts, 'proxy'),
    emailConfigMap: plainName(parts, 'email'),
  };
}

/** The name of the instance's own volume claim, if it has one. */
export function volumeClaimName(source: NamingSource, slot: number): string {
  const parts = { prefix: `instance-${slot}`, app: source.spec.name, uid: source.metadata.uid };
  return suffixedName(parts, 'pvc');
}

/** The name that a sidecar's Service and Deployment share: its own name is cut, so two may come to one. */
export function sidecarName(source: NamingSource, slot: number, sidecar: string): string {
  const parts = { prefix: `instance-${slot}`, app: source.spec.name, uid: source.metadata.uid };
  return plainName(parts, sidecar);
}

/** The slot that `name` belongs to, if it is exactly the name that `source` gives to one of that slot's objects. */
export function slotOf(name: string, source: NamingSource): number | undefined {
  const slot = Number(/^instance-([1-9][0-9]*)-/.exec(name)?.[1]);
  if (!Number.isSafeInteger(slot)) return undefined;
  const names = [...Object.values(instanceNames(source, slot)), volumeClaimName(source, slot)];
  return names.includes(name) ? slot : undefined;
}

/** The value of the `app` label that joins a slot's Services to its pods. */
export function podSelector(source: NamingSource, slot: number): string {
  return asValidName(`${source.spec.name}-${slot}`);
}

/** Where instances are published: under a path of the host, or right at its root. */
export interface InstancePaths {
  readonly usePaths: boolean;
  readonly instancesPath: string;
}

/** The URL path of a slot, without the slash that ends its URL. */
export function instancePath(source: NamingSource, slot: number, paths: InstancePaths): string {
  const folder = paths.usePaths ? paths.instancesPath.trim() : '';
  return `${folder === '' ? '' : `/${folder}`}/${source.spec.name}-${slot}`;
}

function joined(segments: readonly (string | undefined)[]): string {
  return asValidName(segments.filter((segment) => segment !== undefined && segment.trim() !== '').join('-'));
}

function shortUid(uid: string): string {
  return uid.slice(-SHORT_UID_LENGTH);
}

function userName(user: string | undefined): string | undefined {
  return user?.split('@')[0];
}
