import { describe, expect, it } from 'vitest';
import { TerminalError } from '../../src/errors.ts';
import { parseNotice } from '../../src/transport/notice.ts';
import { notice, poolKey } from './_world.ts';

/** The notice as JSON, with one of its fields, given as a path, set to something else. */
function altered(path: string, value: unknown): string {
  const copy: Record<string, unknown> = structuredClone(notice());
  const names = path.split('.');
  let place = copy;
  for (const name of names.slice(0, -1)) place = place[name] as Record<string, unknown>;
  place[names.at(-1) ?? ''] = value;
  return JSON.stringify(copy);
}

describe('a notice', () => {
  it('survives the journey', () => {
    const sent = notice();
    expect(parseNotice(JSON.stringify(sent))).toEqual({ notice: sent, key: poolKey() });
  });

  it('is a CloudEvent of less than a kilobyte that names the object and the pool', () => {
    const sent = notice();
    expect(sent).toMatchObject({
      specversion: '1.0',
      id: '0b5c7a52-1111-4222-8333-123456789abc/4711',
      source: '/clusters/prod',
      type: 'dev.everwarm.notice.v1',
      subject: 'prod/theia-cloud/ide/java',
    });
    expect(JSON.stringify(sent).length).toBeLessThan(1_000);
  });

  it.each([
    { title: 'a field more', text: altered('data.spec', { image: 'x' }) },
    { title: 'an object with labels', text: altered('data.object.labels', {}) },
    { title: 'an unknown reason', text: altered('data.reason', 'delete-everything') },
    { title: 'another version', text: altered('type', 'dev.everwarm.notice.v2') },
    { title: 'a key that is none', text: altered('data.key', 'java') },
    { title: 'a key with a path in it', text: altered('data.key', 'prod/theia-cloud/../java') },
    { title: 'a subject that is not its key', text: altered('subject', 'prod/theia-cloud/ide/other') },
    { title: "a source that is not its key's cluster", text: altered('source', '/clusters/other') },
    { title: "an id that is not its object's", text: altered('id', 'x/1') },
    { title: 'a name with a path in it', text: altered('data.object.name', '../x') },
    { title: 'a name of a megabyte', text: altered('data.object.name', 'a'.repeat(1_000_000)) },
    { title: 'a fraction of a count', text: altered('data.coalesced', 1.5) },
    { title: 'a time that is none', text: altered('data.observedAt', 'yesterday') },
    {
      title: 'an injected prototype',
      text: JSON.stringify(notice()).replace('{', '{"__proto__":{"admin":true},'),
    },
    { title: 'no object at all', text: '[]' },
    { title: 'half a document', text: '{"specversion":' },
  ])('with $title is none', ({ text }) => {
    expect(() => parseNotice(text)).toThrow(TerminalError);
  });

  it('that is refused is not quoted', () => {
    const told = [altered('data.reason', 'canary-5'), altered('data.canary-5', 1), 'canary-5'].map((text) => {
      try {
        return parseNotice(text);
      } catch (error) {
        return String(error);
      }
    });
    expect(told).toHaveLength(3);
    expect(told.join()).not.toContain('canary-5');
    expect(told.join()).not.toContain('\n');
  });
});
