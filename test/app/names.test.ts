import { describe, expect, it } from 'vitest';
import { formatPoolName, goesBy, parseInstanceName, parsePoolName } from '../../src/app/names.ts';

const key = { cluster: 'prod', platform: 'theia-cloud', namespace: 'ide', name: 'java' };

describe('a pool', () => {
  it.each(['java', 'ide/java', 'prod/theia-cloud/ide/java'])('goes by %s', (text) => {
    const parsed = parsePoolName(text);
    if ('problem' in parsed) throw new Error(parsed.problem);
    expect(goesBy(key, parsed.name)).toBe(true);
    expect(formatPoolName(parsed.name)).toBe(text);
  });

  it.each(['python', 'other/java', 'prod/educates/ide/java', 'dev/theia-cloud/ide/java'])(
    'does not go by %s',
    (text) => {
      const parsed = parsePoolName(text);
      if ('problem' in parsed) throw new Error(parsed.problem);
      expect(goesBy(key, parsed.name)).toBe(false);
    },
  );

  it.each(['', '/', 'a/b/c', 'Java', 'a/b/c/d/e', 'ide/'])('is not named by %j', (text) => {
    expect(parsePoolName(text)).toEqual({ problem: expect.stringContaining('names no pool') });
  });
});

describe('an instance', () => {
  it.each([
    { text: 'java/3', name: { kind: 'slot', pool: { name: 'java' }, slot: '3' } },
    { text: 'ide/java/12', name: { kind: 'slot', pool: { namespace: 'ide', name: 'java' }, slot: '12' } },
    { text: 'prod/theia-cloud/ide/java/1', name: { kind: 'slot', pool: key, slot: '1' } },
    {
      text: 'labs-ui/labs/Lab-One',
      name: { kind: 'slot', pool: { namespace: 'labs-ui', name: 'labs' }, slot: 'Lab-One' },
    },
    {
      text: 'instance-3-java-0a1b2c3d4e5f',
      name: { kind: 'deployment', name: 'instance-3-java-0a1b2c3d4e5f' },
    },
    { text: 'ide/instance-3-java', name: { kind: 'deployment', namespace: 'ide', name: 'instance-3-java' } },
  ])('is named by $text', ({ text, name }) => {
    expect(parseInstanceName(text)).toEqual({ name });
  });

  it.each(['', 'java/', 'a/b/', 'a/b/c/3', 'a/b/c/d', 'Java/3'])('is not named by %j', (text) => {
    expect(parseInstanceName(text)).toHaveProperty('problem');
  });
});
