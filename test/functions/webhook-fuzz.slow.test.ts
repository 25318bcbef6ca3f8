import { expect, it } from 'vitest';
import { fuzz } from './_fuzz.ts';

const RUNS = Number(process.env['EVERWARM_FUZZ_RUNS'] ?? 50_000);
const SEED = 1;

it(`${RUNS} knocks of every kind let in nothing that is not signed and nothing that is no notice, and tell nobody a secret`, async () => {
  const { answers, clusterConnections, enqueued, otherCalls, dead } = await fuzz({ runs: RUNS, seed: SEED });

  expect(enqueued).toBe(answers['202 signed']);
  // The key that signs is all that the door asks for: not even the cluster's own secret, let alone the cluster.
  expect(otherCalls).toEqual(['secretsmanager:GetSecretValue everwarm/dev/forwarder']);
  expect(clusterConnections).toBe(0);
  expect(dead).toBe(0);
  // Every kind of answer was given many times: the knocks are not all of one kind.
  for (const name of ['202 signed', '400 signed', '401 not signed', '413 signed'])
    expect(answers[name], name).toBeGreaterThan(RUNS / 1_000);
});
