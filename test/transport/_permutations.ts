import { isDeepStrictEqual } from 'node:util';
import { type Outcome, playCourse } from './_course.ts';
import { type Journeys, journeys } from './_journeys.ts';

/** What many journeys of the same news came to. */
export interface Permuted {
  readonly runs: number;
  readonly sums: Readonly<Journeys['counts']>;
  /** Seeds whose end was another one, and in which way. */
  readonly odd: readonly { readonly seed: number; readonly why: string }[];
}

/** Plays the course once as it should be and then with the journeys of each seed; every end is compared with the first. */
export async function permute(first: number, seeds: number): Promise<Permuted> {
  const { state } = await playCourse((change) => [change]);
  const sums = { sent: 0, lost: 0, doubled: 0, late: 0, redriven: 0 };
  const odd: { seed: number; why: string }[] = [];
  for (let seed = first; seed < first + seeds; seed += 1) {
    const { deliver, counts } = journeys(seed);
    const why = await playCourse(deliver).then(
      (outcome) => difference(outcome, state),
      (error: unknown) => String(error),
    );
    if (why !== undefined) odd.push({ seed, why });
    for (const name of ['sent', 'lost', 'doubled', 'late', 'redriven'] as const) sums[name] += counts[name];
  }
  return { runs: seeds, sums, odd };
}

/** In which way a run did not end as it should; `undefined` when it did. */
function difference(
  { state, writesAfter, violations }: Outcome,
  expected: Outcome['state'],
): string | undefined {
  if (violations.length > 0) return `broke a rule: ${JSON.stringify(violations[0])}`;
  if (writesAfter > 0) return `a second look wrote ${writesAfter} times`;
  const at = state.findIndex((object, index) => !isDeepStrictEqual(object, expected[index]));
  if (at === -1 && state.length === expected.length) return undefined;
  return `another end: ${JSON.stringify(state[at])} instead of ${JSON.stringify(expected[at])}`;
}
