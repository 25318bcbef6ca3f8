import { describe, expect, it } from 'vitest';
import { createSigningKeys } from '../../../src/app/functions/signing-keys.ts';
import { OTHER_SECRET, SECRET, SECRET_TEXT } from '../../transport/_world.ts';

const OTHER_TEXT = `whsec_${Buffer.from(OTHER_SECRET).toString('base64')}`;
const clusters = [{ id: 'prod', signingKeys: 'keys' }, { id: 'bus-only' }];

/** The keys of cluster `prod`: what the secret held when it was last read, and what it holds now. */
function world(remembered: string, now = remembered) {
  let reads = 0;
  const secretOf = createSigningKeys(clusters, async (_id, refresh) => {
    reads += 1;
    return refresh ? now : remembered;
  });
  return { secretOf, reads: () => reads };
}
const keys = (given: object) => JSON.stringify({ keys: given });

describe("a forwarder's signing key", () => {
  it('is one of several while they are rotated', async () => {
    const { secretOf } = world(keys({ old: SECRET_TEXT, new: OTHER_TEXT }));
    expect(await secretOf('prod', 'old')).toEqual(SECRET);
    expect(await secretOf('prod', 'new')).toEqual(OTHER_SECRET);
  });

  it('is found as soon as it was added', async () => {
    const { secretOf } = world(keys({ old: SECRET_TEXT }), keys({ old: SECRET_TEXT, new: OTHER_TEXT }));
    expect(await secretOf('prod', 'new')).toEqual(OTHER_SECRET);
  });

  it('is none when it was taken back, and for a cluster that has none', async () => {
    const { secretOf, reads } = world(keys({ new: OTHER_TEXT }));
    expect(await secretOf('prod', 'old')).toBeUndefined();
    expect(await secretOf('prod', 'constructor')).toBeUndefined();
    expect(reads()).toBe(4);
    expect(await secretOf('bus-only', 'old')).toBeUndefined();
    expect(await secretOf('nobody', 'old')).toBeUndefined();
    expect(reads()).toBe(4);
  });

  it.each(['canary', '{"canary":1}', '{"keys":{"a":"canary"}}', '{"keys":{"a b":"canary"}}'])(
    'cannot be had from a secret of %j, and nothing of it is repeated',
    async (text) => {
      const { secretOf } = world(text);
      await expect(secretOf('prod', 'a')).rejects.toThrow(/must be/);
      await expect(secretOf('prod', 'a')).rejects.not.toThrow(/canary/);
    },
  );
});
