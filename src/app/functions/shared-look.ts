import type { Platform } from '../../platform/platform.ts';
import type { PoolKey } from '../../pool/key.ts';

/**
 * A platform whose first look at each pool of a namespace is one for all of them. Made anew for a batch: the look begins after
 * its keys were received, and whoever looks again sees for himself.
 */
export function sharingFirstLook(platform: Platform, keys: readonly PoolKey[]): Platform {
  const looks = new Map<string, ReturnType<Platform['observe']>>();
  const seen = new Set<string>();
  const isShared = (namespace: string): boolean =>
    keys.filter((key) => key.platform === platform.name && key.namespace === namespace).length > 1;
  return {
    ...platform,
    async observe(api, scope, hints) {
      const { cluster, namespace, name } = scope;
      const one = `${namespace}/${name ?? ''}`;
      if (name === undefined || seen.has(one) || !isShared(namespace))
        return await platform.observe(api, scope, hints);
      seen.add(one);
      const look = looks.get(namespace) ?? platform.observe(api, { cluster, namespace }, hints);
      looks.set(namespace, look);
      return (await look).filter(({ key }) => key.name === name);
    },
  };
}
