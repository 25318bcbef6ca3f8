import type { Step } from './_steps.ts';

/** What others need for one piece of work, what we aim at, and what was measured here. */
export interface Bar {
  readonly what: string;
  /** A plain Deployment, the others' warm pools, and Theia Cloud's own operator; `–`: it has nothing of the kind. */
  readonly deployment: string;
  readonly agentSandbox: string;
  readonly kruise: string;
  readonly operator: string;
  readonly goal: string;
  /** Where it can be measured if not by these steps. */
  readonly elsewhere?: string;
  /** The figure of one side; `met` where the goal is one that can be told from it. */
  readonly here?: (step: Lookup) => Figure | undefined;
}

interface Figure {
  readonly value: string;
  readonly met?: boolean;
}

type Lookup = (name: string) => Step | undefined;

/** Where the others' figures come from. */
export const SOURCE =
  'medians of three or more runs on a two-core machine: kube-apiserver 1.34, pods ready after 1 s, shipped defaults; ' +
  'kube-controller-manager 1.34, kubernetes-sigs/agent-sandbox 2fd412d5, openkruise/agents 0b72c83a, ' +
  'Theia Cloud operator 375ef32. Times compare within one run only';

/** A quarter of fifty, rounded down as for a Deployment. */
const BUDGET = 12;
const BATCHES = Math.ceil(50 / BUDGET);
/** The grace period of a withdrawal, the stop and the start of a pod. */
const BATCH_SECONDS = 2 + 0.5 + 1;
const ROLLOUT_SECONDS = 1.2 * BATCHES * BATCH_SECONDS;
/** What an instance with Keycloak consists of: two Services, two ConfigMaps, a Deployment. */
const PARTS = 5;
/** The pool's own status, written once a pass: a few writes among two hundred instances. */
const STATUS_EACH = 0.1;

/** The bars, in the order in which a person asks. */
export const BARS: readonly Bar[] = [
  {
    what: 'fill 200: s',
    deployment: '2.2',
    agentSandbox: '9.3',
    kruise: '5.3',
    operator: '10 in 4.9 (2 s pods)',
    goal: '≤ Deployment × 1.5',
    here: (step) => asRatio(step('fill 200'), step('Deployment: fill 200'), 1.5),
  },
  {
    what: 'fill 200: writes each',
    deployment: '1.4–2.2',
    agentSandbox: '10',
    kruise: '8–9',
    operator: '5',
    goal: 'parts + 1',
    here: (step) => figure(step('fill 200'), ({ writesEach }) => writesEach, atMost(PARTS + 1 + STATUS_EACH)),
  },
  {
    what: 'fill 200: CPU ms each',
    deployment: '9',
    agentSandbox: '68',
    kruise: '35',
    operator: '–',
    goal: '≤ 5 a write',
    here: (step) =>
      figure(
        step('fill 200'),
        ({ cpuMs }) => cpuMs / 200,
        ({ cpuMs, writes }) => cpuMs <= 5 * writes,
      ),
  },
  {
    what: 'roll out 50: s',
    deployment: '2.6',
    agentSandbox: '2.6',
    kruise: '6.8',
    operator: '10 in 5.7',
    goal: `≤ ${ROLLOUT_SECONDS} (${BATCHES} batches)`,
    here: (step) => figure(step('roll out 50'), ({ seconds }) => seconds, atMost(ROLLOUT_SECONDS)),
  },
  {
    what: 'roll out 50: fewest ready',
    deployment: '38',
    agentSandbox: '0',
    kruise: '40',
    operator: '0',
    goal: `≥ ${50 - BUDGET}`,
    here: (step) =>
      figure(
        step('roll out 50'),
        ({ fewestReady = 0 }) => fewestReady,
        ({ fewestReady = 0 }) => fewestReady >= 50 - BUDGET,
      ),
  },
  {
    what: 'roll out 50: writes each',
    deployment: '6.6',
    agentSandbox: '9.2',
    kruise: '12.4',
    operator: '10',
    goal: '≤ 10 + 2 a batch',
    here: (step) =>
      figure(step('roll out 50'), ({ writesEach }) => writesEach, atMost(10 + (2 * BATCHES) / 50)),
  },
  {
    what: 'hand-deleted, back after: s',
    deployment: '1.02',
    agentSandbox: '1.05',
    kruise: '1.04',
    operator: 'never',
    goal: '≤ 1.1',
    here: (step) => figure(step('hand-deleted'), ({ seconds }) => seconds, atMost(1.1)),
  },
  {
    what: 'hurt by claims in a roll-out',
    deployment: '–',
    agentSandbox: '0',
    kruise: '0',
    operator: '6 to 18 of 18',
    goal: '0',
    elsewhere: 'npm run proof',
  },
  {
    what: 'stale handed out meanwhile',
    deployment: '–',
    agentSandbox: '0, or 50 of 52',
    kruise: '1–2 of 9–17',
    operator: 'all',
    goal: 'by policy; 0 under never',
    elsewhere: 'npm run proof',
  },
  {
    what: 'one claim, two instances',
    deployment: '–',
    agentSandbox: '2–10 % at 20/s',
    kruise: 'not seen',
    operator: 'not seen',
    goal: '0',
    elsewhere: 'npm run proof',
  },
  {
    what: 'claims at 5/s: p50 / p99 ms',
    deployment: '–',
    agentSandbox: '48 / 225',
    kruise: '53 / 267',
    operator: '218 / 637',
    goal: '≤ 40 / 150, mode own',
  },
  {
    what: 'claims at 20/s: p50 / p99 s',
    deployment: '–',
    agentSandbox: '2.6 / 13',
    kruise: '0.57 / 1.4',
    operator: '1–1.3 (burst of 10)',
    goal: '≤ 0.1 / 0.5, mode own',
  },
  {
    what: 'writes a claim, with refill',
    deployment: '–',
    agentSandbox: '15–20',
    kruise: '11–20',
    operator: '11 + 1, release 5 + 4',
    goal: '≤ 5 + parts, mode own',
  },
  {
    what: 'killed in a roll-out: done after s',
    deployment: '3.4',
    agentSandbox: '21.6',
    kruise: '22.5',
    operator: '4.9, mixed',
    goal: '≤ 4, no more writes',
    elsewhere: 'npm run test:e2e',
  },
  {
    what: 'writes in five idle minutes',
    deployment: '0',
    agentSandbox: '149',
    kruise: 'its leases',
    operator: 'its lease',
    goal: '0',
    elsewhere: 'npm run test:real',
  },
  {
    what: 'half a quota: refused in min 1 / later',
    deployment: '25 / 0',
    agentSandbox: '350 / 25',
    kruise: '375 / 25',
    operator: '–',
    goal: '≤ 5 / 1',
    elsewhere: 'npm run test:real',
  },
  {
    what: 'quota lifted: full after s',
    deployment: 'not in 330',
    agentSandbox: '152',
    kruise: '164',
    operator: '–',
    goal: '≤ 5',
    elsewhere: 'npm run test:real',
  },
  {
    what: 'peak memory MB',
    deployment: '120',
    agentSandbox: '119',
    kruise: '253',
    operator: '400 (heap)',
    goal: 'forwarder ≤ 120',
    elsewhere: 'npm run bench',
  },
];

function asRatio(ours: Step | undefined, plain: Step | undefined, most: number): Figure | undefined {
  if (ours === undefined || plain === undefined) return undefined;
  const ratio = ours.seconds / plain.seconds;
  return { value: `${rounded(ours.seconds)} = ${rounded(ratio)} × Deployment`, met: ratio <= most };
}

function figure(
  step: Step | undefined,
  value: (step: Step) => number,
  met: (step: Step, value: number) => boolean,
): Figure | undefined {
  if (step === undefined) return undefined;
  return { value: String(rounded(value(step))), met: met(step, value(step)) };
}

function atMost(most: number) {
  return (_: Step, value: number): boolean => value <= most;
}

/** Two places are more than a busy machine can tell. */
export function rounded(value: number): number {
  return Number(value.toFixed(2));
}
