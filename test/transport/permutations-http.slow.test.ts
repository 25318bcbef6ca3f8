import { startFauxqs } from 'fauxqs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type HttpOutcome, playOverHttp } from './_http-course.ts';
import { sqsAt } from './_mapping.ts';

const RUNS = 50;
/** Most of a run is waiting. */
const AT_ONCE = 10;

let fauxqs: Awaited<ReturnType<typeof startFauxqs>>;
beforeAll(async () => {
  fauxqs = await startFauxqs({ port: 0, logger: false });
});
afterAll(() => fauxqs.stop());

it(`${RUNS} bad ways between forwarder and door, over sockets and a queue, lead to the same objects`, async () => {
  const sqs = sqsAt(fauxqs.address);
  const outcomes: HttpOutcome[] = [];
  const seeds = Array.from({ length: RUNS }, (_, at) => at + 1);
  const play = async (): Promise<void> => {
    for (let seed = seeds.shift(); seed !== undefined; seed = seeds.shift())
      outcomes.push(await playOverHttp(seed, sqs));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, play));
  sqs.destroy();

  expect(outcomes).toHaveLength(RUNS);
  for (const { state, changedAfter } of outcomes) {
    expect(changedAfter, 'what a second look wrote').toEqual([]);
    expect(state).toEqual(outcomes[0]?.state);
  }
  // Every fate met requests of most runs.
  for (const fate of ['broken', 'unanswered', 'doubled', 'lost', 'late', 'redriven'] as const) {
    const met = outcomes.reduce((sum, { fates }) => sum + fates[fate], 0);
    expect(met, fate).toBeGreaterThan(RUNS / 2);
  }
});
