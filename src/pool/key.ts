/** Names one pool, everywhere: in notices, queues, logs and on the command line. The only thing the work queue holds. */
export interface PoolKey {
  readonly cluster: string;
  readonly platform: string;
  readonly namespace: string;
  readonly name: string;
}

const PART = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;
const PART_LENGTH_MAX = 253;

/** `cluster/platform/namespace/name`. */
export function formatKey(key: PoolKey): string {
  return `${key.cluster}/${key.platform}/${key.namespace}/${key.name}`;
}

/** The key that `text` spells, or `undefined` when it is not exactly four DNS-1123 names. */
export function parseKey(text: string): PoolKey | undefined {
  const parts = text.split('/');
  if (parts.length !== 4 || !parts.every((part) => part.length <= PART_LENGTH_MAX && PART.test(part)))
    return undefined;
  const [cluster = '', platform = '', namespace = '', name = ''] = parts;
  return { cluster, platform, namespace, name };
}
