import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createWebhook, type UrlRequest } from '../../src/app/functions/webhook.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { createMetrics } from '../../src/telemetry/metrics.ts';
import { leapingClock } from '../kube/_leaping-clock.ts';
import { notice, OTHER_SECRET, SECRET, SECRET_TEXT, START } from '../transport/_world.ts';
import { type Aws, startAws } from './_aws.ts';
import { signedHeaders } from './_events.ts';

const RUNS = Number(process.env['EVERWARM_FUZZ_RUNS'] ?? 50_000);
/** In bodies it stands where nothing of it may get out again; the signing key and the credentials hold it as well. */
const CANARY = 'canary';

let aws: Aws;
let directory: string;
beforeAll(async () => {
  aws = await startAws();
  aws.secrets.set('everwarm/dev/forwarder', JSON.stringify({ keys: { k1: SECRET_TEXT } }));
  directory = mkdtempSync(join(tmpdir(), 'everwarm-fuzz-'));
  const cluster = {
    id: 'prod',
    auth: { kind: 'kubeconfig', secret: 'everwarm/dev/prod' },
    signingKeys: 'everwarm/dev/forwarder',
    platforms: { 'theia-cloud': { namespaces: ['ide'] } },
  };
  writeFileSync(join(directory, 'clusters.json'), JSON.stringify({ clusters: [cluster] }));
  Object.assign(process.env, aws.env('webhook'));
});
afterAll(async () => {
  rmSync(directory, { recursive: true });
  await aws.stop();
});

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
const knock = fc.record({
  text: body,
  how: signing,
  noise: fc.string({ unit: 'binary', maxLength: 60 }),
  ageSeconds: fc.integer({ min: -60, max: 300 }),
});
type Knock = typeof knock extends fc.Arbitrary<infer T> ? T : never;

function headersOf({ text, how, noise, ageSeconds }: Knock): Record<string, string> {
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

it(`${RUNS} knocks of every kind let in nothing that is not signed and nothing that is no notice, and tell nobody a secret`, async () => {
  const told: string[] = [];
  const clock = leapingClock();
  const write = (line: string) => void told.push(line);
  const runtime = {
    clock,
    random: () => 0.5,
    log: createLog({ clock, format: 'json', write }),
    metrics: createMetrics({ clock, namespace: 'Everwarm/dev', write }),
  };
  const config = {
    clustersFile: join(directory, 'clusters.json'),
    queueUrl: process.env['EVERWARM_QUEUE_URL'] ?? '',
  };
  const answer = createWebhook(config, runtime);
  const statuses = new Map<string, number>();

  await fc.assert(
    fc.asyncProperty(knock, async (given) => {
      const request: UrlRequest = {
        rawPath: '/v1/notices/prod/k1',
        method: 'POST',
        headers: headersOf(given),
        body: given.text,
        isBase64Encoded: false,
      };
      told.length = 0;
      const reply = await answer(request);
      const isTooLarge = Buffer.byteLength(given.text) > 20_000;
      const allowed = isTooLarge ? [413] : given.how === 'right' ? [202, 400, 401] : [401];
      expect(allowed, `${given.how}: ${reply.body}`).toContain(reply.status);
      if (reply.status === 401 && given.how === 'right') expect(reply.body).toContain('replayed');
      expect(reply.body.length).toBeLessThan(200);
      for (const text of [reply.body, ...told])
        expect(text.includes(CANARY) || text.includes('MfKQ9r8GKY')).toBe(false);
      // One line each: nothing in a request breaks out of its line.
      expect(told.every((line) => line.indexOf('\n') === line.length - 1)).toBe(true);
      const name = `${reply.status} ${given.how === 'right' ? 'signed' : 'not signed'}`;
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
    }),
    { numRuns: RUNS },
  );

  const sent = aws.calls.filter(({ action }) => action === 'sqs:SendMessage').length;
  expect(sent).toBe(statuses.get('202 signed'));
  expect(
    aws.calls.every(({ action }) => action === 'sqs:SendMessage' || action.startsWith('secretsmanager:')),
  ).toBe(true);
  // Every kind of answer was given many times: the knocks are not all of one kind.
  for (const name of ['202 signed', '400 signed', '401 not signed', '413 signed'])
    expect(statuses.get(name), name).toBeGreaterThan(RUNS / 1_000);
});
