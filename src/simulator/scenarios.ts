import type { Scenario } from './_story.ts';
import { INCIDENT_TWO } from './scenarios/incident-two.ts';
import { LIMITS } from './scenarios/limits.ts';
import { RELEASES } from './scenarios/releases.ts';

/** Every named story, in the order in which they are told. */
export const SCENARIOS: readonly Scenario[] = [...INCIDENT_TWO, ...RELEASES, ...LIMITS];
