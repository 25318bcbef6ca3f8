import fc from 'fast-check';
import { notice, OTHER_SECRET, SECRET, START } from '../transport/_world.ts';
import { signedHeaders } from './_events.ts';

/** In bodies it stands where nothing of it may get out again; the credentials around the door hold it as well. */
export const CANARY = 'canary';

const TEXT = JSON.stringify(notice());
const PATHS = [
  'specversion',
  'id',
  'source',
  'type',
  'subject',
  'data',
  'data.key',
  'data.object',
  'data.object.name',
  'data.object.uid',
  'data.object.kind',
  'data.object.namespace',
  'data.reason',
  'data.observedAt',
  'data.coalesced',
  'data.epoch',
  'data.seq',
];
const NASTY = [
  `../../${CANARY}`,
  `${CANARY}%2f..`,
  '__proto__',
  'constructor',
  '\u0000',
  '\ud800',
  `$${'{'}${CANARY}}`,
  `${CANARY}.example.org`,
  `\n${CANARY}: 1`,
  CANARY.repeat(2_000),
];

const value = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...NASTY) },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constantFrom(-1, 0, 1e308, 0.5, null, true, [], {}) },
);

/** A notice of which one field was set, taken or added. */
const bent = fc
  .tuple(fc.constantFrom(...PATHS), fc.constantFrom('set', 'take', 'beside', 'below', 'twice'), value)
  .map(([path, how, given]) => {
    if (how === 'twice') {
      const name = path.split('.').at(-1);
      return TEXT.replace(`"${name}":`, `"${name}":${JSON.stringify(given)},"${name}":`);
    }
    const copy = structuredClone(notice()) as unknown as Record<string, unknown>;
    const names = path.split('.');
    const last = names.pop() ?? '';
    let place = copy;
    for (const name of names) place = place[name] as Record<string, unknown>;
    if (how === 'set') place[last] = given;
    else if (how === 'take') delete place[last];
    else if (how === 'beside') place[`${CANARY}-${last}`] = given;
    else place[last] = { [CANARY]: given, __proto__: null };
    return JSON.stringify(copy);
  });

/** A notice of which some characters were replaced. */
const spliced = fc
  .tuple(
    fc.nat(TEXT.length),
    fc.nat(40),
    fc.oneof(
      fc.string({ unit: 'binary', maxLength: 20 }),
      fc.constantFrom('{', '"', '\\', `"${CANARY}`, '[[[[', '}'),
    ),
  )
  .map(([at, length, text]) => TEXT.slice(0, at) + text + TEXT.slice(at + length));

const body = fc.oneof(
  { weight: 6, arbitrary: bent },
  { weight: 4, arbitrary: spliced },
  { weight: 2, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
  { weight: 2, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.nat(999_999).map((seq) => JSON.stringify(notice({ seq }))) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      '',
      '{}',
      '[]',
      'null',
      `"${CANARY}"`,
      '['.repeat(19_999),
      `${TEXT}${' '.repeat(20_000)}`,
    ),
  },
);

type Signing = 'right' | 'other key' | 'none' | 'twice' | 'late' | 'early' | 'other body' | 'noise';
const signing = fc.oneof(
  { weight: 7, arbitrary: fc.constant<Signing>('right') },
  {
    weight: 7,
    arbitrary: fc.constantFrom<Signing>('other key', 'none', 'twice', 'late', 'early', 'other body', 'noise'),
  },
);
/** Requests to the door: half of them rightly signed, some of those a notice. */
export const knock = fc.record({
  text: body,
  how: signing,
  noise: fc.string({ unit: 'binary', maxLength: 60 }),
  ageSeconds: fc.integer({ min: -60, max: 300 }),
});
export type Knock = typeof knock extends fc.Arbitrary<infer T> ? T : never;

/** The headers with which it is sent. */
export function headersOf({ text, how, noise, ageSeconds }: Knock): Record<string, string> {
  const at = START - ageSeconds * 1_000;
  const { id } = notice();
  const right = signedHeaders(text, id, SECRET, at);
  switch (how) {
    case 'right':
      return right;
    case 'other key':
      return signedHeaders(text, id, OTHER_SECRET, at);
    case 'none':
      return {};
    case 'twice':
      return { ...right, 'webhook-id': `${id},${id}` };
    case 'late':
      return signedHeaders(text, id, SECRET, START - 301_000);
    case 'early':
      return signedHeaders(text, id, SECRET, START + 61_000);
    case 'other body':
      return signedHeaders(`${text} `, id, SECRET, at);
    case 'noise':
      return { ...right, 'webhook-signature': `${noise} v1,${noise}` };
  }
}
