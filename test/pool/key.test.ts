import fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatKey, parseKey } from '../../src/pool/key.ts';

const KEY = { cluster: 'prod-eu', platform: 'theia-cloud', namespace: 'ide', name: 'java-25' };

it('a key reads as cluster, platform, namespace and name', () => {
  expect(formatKey(KEY)).toBe('prod-eu/theia-cloud/ide/java-25');
  expect(parseKey('prod-eu/theia-cloud/ide/java-25')).toEqual(KEY);
});

it('names may hold dots, digits, and one character alone', () => {
  expect(parseKey('a/b/1/java.25')).toEqual({ cluster: 'a', platform: 'b', namespace: '1', name: 'java.25' });
});

it.each([
  { text: '', title: 'nothing' },
  { text: 'theia-cloud/ide/java-25', title: 'three names' },
  { text: 'a/b/c/d/e', title: 'five names' },
  { text: 'a/b//d', title: 'an empty name' },
  { text: 'a/b/c/D', title: 'a capital letter' },
  { text: 'a/b/c/d ', title: 'a blank' },
  { text: 'a/b/c/d\n', title: 'a line break' },
  { text: 'a/b/c/-d', title: 'a name that begins with a dash' },
  { text: 'a/b/c/d-', title: 'a name that ends with a dash' },
  { text: 'a/b/../d', title: 'a step upwards' },
  { text: 'a/b/c/__proto__', title: 'a name of the language' },
  { text: `a/b/c/${'d'.repeat(254)}`, title: 'a name over 253 characters' },
])('$title is no key', ({ text }) => {
  expect(parseKey(text)).toBeUndefined();
});

it('a name of 253 characters is still one', () => {
  expect(parseKey(`a/b/c/${'d'.repeat(253)}`)?.name).toHaveLength(253);
});

it('what is written is read back, for every key', () => {
  const name = fc.stringMatching(/^[a-z0-9]([-a-z0-9.]{0,20}[a-z0-9])?$/);
  fc.assert(
    fc.property(fc.record({ cluster: name, platform: name, namespace: name, name }), (key) => {
      expect(parseKey(formatKey(key))).toEqual(key);
    }),
  );
});

it('text that is no key of ours is never taken for one', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '/', '.', '-', 'A', ' ', '1') }), (text) => {
      const key = parseKey(text);
      if (key !== undefined) expect(formatKey(key)).toBe(text);
    }),
  );
});
