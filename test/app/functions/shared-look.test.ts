import { describe, expect, it } from 'vitest';
import { sharingFirstLook } from '../../../src/app/functions/shared-look.ts';
import type { KubeApi } from '../../../src/kube/api.ts';
import type { Observation, Platform, Scope } from '../../../src/platform/platform.ts';

const POOLS = ['a', 'b', 'c'];
const api = {} as KubeApi; // only handed through
const keyOf = (name: string, namespace = 'ide') => ({ cluster: 'prod', platform: 'p', namespace, name });
const scopeOf = (name: string, namespace = 'ide'): Scope => ({ cluster: 'prod', namespace, name });

/** A platform with the pools a, b and c in each namespace, and the looks that it took. */
function world(...keys: readonly ReturnType<typeof keyOf>[]) {
  const looks: string[] = [];
  const platform: Platform = {
    name: 'p',
    watches: [],
    keysOf: () => [],
    observe: async (_api, { namespace, name }) => {
      looks.push(`${namespace}/${name ?? '*'}`);
      const names = name === undefined ? POOLS : [name];
      return names.map((one) => ({ key: keyOf(one, namespace) }) as Observation);
    },
  };
  const shared = sharingFirstLook(platform, keys);
  const see = async (scope: Scope) =>
    (await shared.observe(api, scope, { quota: false })).map(({ key }) => `${key.namespace}/${key.name}`);
  return { see, looks };
}

describe('pools of one namespace in one batch', () => {
  it('share their first look, and each sees only itself', async () => {
    const { see, looks } = world(keyOf('a'), keyOf('b'));
    expect(await Promise.all([see(scopeOf('a')), see(scopeOf('b'))])).toEqual([['ide/a'], ['ide/b']]);
    expect(looks).toEqual(['ide/*']);
  });

  it('look for themselves when they look again', async () => {
    const { see, looks } = world(keyOf('a'), keyOf('b'));
    await see(scopeOf('a'));
    await see(scopeOf('a'));
    await see(scopeOf('b'));
    expect(looks).toEqual(['ide/*', 'ide/a']);
  });

  it('do not look at a whole namespace for one of them', async () => {
    const { see, looks } = world(keyOf('a'), keyOf('b', 'other'));
    await Promise.all([see(scopeOf('a')), see(scopeOf('b', 'other'))]);
    expect(looks.toSorted()).toEqual(['ide/a', 'other/b']);
  });

  it('see nothing where a pool is gone', async () => {
    const { see } = world(keyOf('a'), keyOf('gone'));
    expect(await see(scopeOf('gone'))).toEqual([]);
  });
});
