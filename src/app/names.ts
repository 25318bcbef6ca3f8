import { formatKey, type PoolKey } from '../pool/key.ts';

/** A pool as people name it: `[[cluster/platform/]namespace/]name`. What is left out may be anything. */
export interface PoolName {
  readonly cluster?: string;
  readonly platform?: string;
  readonly namespace?: string;
  readonly name: string;
}

/** An instance as people name it: `POOL/<slot>`, or the name of its Deployment (of a portal's: of its environment or session). */
export type InstanceName =
  | { readonly kind: 'slot'; readonly pool: PoolName; readonly slot: string }
  | { readonly kind: 'deployment'; readonly namespace?: string; readonly name: string };

export type Named<T> = { readonly name: T } | { readonly problem: string };

const PART = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const SLOT = /^[1-9][0-9]*$/;

/** The pool that `text` names, or how to write it. */
export function parsePoolName(text: string): Named<PoolName> {
  const parts = text.split('/');
  const isWellFormed = parts.every((part) => PART.test(part)) && [1, 2, 4].includes(parts.length);
  if (!isWellFormed) {
    return { problem: `${JSON.stringify(text)} names no pool: write [[cluster/platform/]namespace/]name` };
  }
  const [name = '', namespace, platform, cluster] = parts.toReversed();
  return {
    name: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(platform === undefined ? {} : { platform }),
      ...(cluster === undefined ? {} : { cluster }),
    },
  };
}

/**
 * The instance that `text` names, or how to write it. A slot that is no number is told from a Deployment's name by the length:
 * where both would do it is a Deployment's.
 */
export function parseInstanceName(text: string): Named<InstanceName> {
  const parts = text.split('/');
  const last = parts.at(-1) ?? '';
  const isSlot = SLOT.test(last) || (last !== '' && [3, 5].includes(parts.length));
  if (parts.length > 1 && isSlot) {
    const pool = parsePoolName(parts.slice(0, -1).join('/'));
    return 'problem' in pool ? pool : { name: { kind: 'slot', pool: pool.name, slot: last } };
  }
  if (parts.length > 2 || !parts.every((part) => PART.test(part))) {
    const problem = `${JSON.stringify(text)} names no instance: write POOL/SLOT, as in java/3, or a Deployment's name`;
    return { problem };
  }
  const [name = '', namespace] = parts.toReversed();
  return { name: { kind: 'deployment', name, ...(namespace === undefined ? {} : { namespace }) } };
}

/** Whether `key` is a pool that goes by `name`. */
export function goesBy(key: PoolKey, name: PoolName): boolean {
  return (
    key.name === name.name &&
    (name.namespace ?? key.namespace) === key.namespace &&
    (name.platform ?? key.platform) === key.platform &&
    (name.cluster ?? key.cluster) === key.cluster
  );
}

/** `name` as it was written. */
export function formatPoolName({ cluster, platform, namespace, name }: PoolName): string {
  return cluster !== undefined && platform !== undefined && namespace !== undefined
    ? formatKey({ cluster, platform, namespace, name })
    : [namespace, name].filter((part) => part !== undefined).join('/');
}
