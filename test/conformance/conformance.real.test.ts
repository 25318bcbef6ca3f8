import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { campaign, finding, type Pair, programsOf, type Result, shrink } from './_campaign.ts';
import { ROOT, type Started, startEmbedded } from './_embedded.ts';
import { shortcomings } from './_minimum.ts';
import { makeReady } from './_ready.ts';
import { startReal } from './_real.ts';
import { connect } from './_wire.ts';
import { DEVIATIONS } from './deviations.ts';

const SEED = 1;
const PROGRAMS = 750;
/** Of so many programs that differ the shortest form is looked for. */
const SHRUNK_MAX = 3;
const REPORT = join(ROOT, 'node_modules/.cache/everwarm/conformance.json');

describe('the embedded API server and a real one', () => {
  const started: Started[] = [];
  let pair: Pair;
  let result: Result;

  beforeAll(async () => {
    started.push(...(await Promise.all([startReal(), startEmbedded()])));
    const [real, embedded] = started.map(({ endpoint }) => connect(endpoint));
    if (real === undefined || embedded === undefined) throw new Error('a server is missing');
    pair = { real, embedded, clock: systemClock };
    await Promise.all([makeReady(real, systemClock), makeReady(embedded, systemClock)]);
    result = await campaign(pair, programsOf(SEED, PROGRAMS));
    process.stdout.write(result.census.table());
    report(result);
  });

  afterAll(async () => {
    pair?.real.close();
    pair?.embedded.close();
    await Promise.all(started.map((server) => server.stop()));
  });

  it('answer five thousand generated requests alike', async () => {
    const shortest: string[] = [];
    for (const each of result.unlisted.slice(0, SHRUNK_MAX)) shortest.push(finding(await shrink(pair, each)));
    shortest.push(...result.unlisted.slice(SHRUNK_MAX).map(finding));
    expect(shortest.join('\n\n')).toBe('');
    expect(result.census.size).toBeGreaterThanOrEqual(5_000);
  });

  it('are asked every verb on every kind, and often enough', () => {
    expect(shortcomings(result.census)).toEqual([]);
  });

  it('still differ in all that is listed, which is not much', () => {
    const names = DEVIATIONS.map(({ name }) => name);
    expect(names.filter((name) => !result.listed.has(name))).toEqual([]);
    expect(names.length).toBeLessThanOrEqual(20);
  });

  it('differ in what the documentation says, and in nothing else', () => {
    const text = readFileSync(join(ROOT, 'docs/embedded-api-server.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `([^`]+)` \|/gm)].map(([, name]) => name);
    expect(rows).toEqual(DEVIATIONS.map(({ name }) => name));
  });
});

/** What `npm run test:real` tells of a campaign. */
function report({ census, listed, unlisted }: Result): void {
  mkdirSync(dirname(REPORT), { recursive: true });
  const told = { comparisons: census.size, unlisted: unlisted.length, listed: listed.size };
  writeFileSync(REPORT, `${JSON.stringify(told)}\n`);
}
