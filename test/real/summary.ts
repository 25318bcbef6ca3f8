import { readFileSync, rmSync } from 'node:fs';
import type { TestCase, Vitest } from 'vitest/node';
import type { Counts } from '../_vitest.ts';
import { LEFT_OUT, reasonToLeaveOut } from './left-out.ts';

/** What a run on a real API server came to, in five numbers. */
export interface Summary {
  /** Requests that were sent to the embedded and to the real server, and whose answers were compared. */
  readonly comparisons: number;
  /** Answers that differ, and are not on the list of those that may. */
  readonly unlisted: number;
  readonly listed: number;
  readonly scenarios: number;
  readonly scenariosFailed: number;
}

/** Where the comparison leaves its numbers. */
const CONFORMANCE = 'node_modules/.cache/everwarm/conformance.json';
/** So many of the scenarios may be left out, at most. */
const LEFT_OUT_MAX = 0.15;

/** What an earlier run left behind says nothing of the next. */
export function forgetConformance(): void {
  rmSync(CONFORMANCE, { force: true });
}

export function summaryOf(vitest: Vitest): Summary {
  const told = scenariosIn(vitest).filter((test) => test.result().state !== 'skipped');
  const failed = told.filter((test) => test.result().state === 'failed');
  return { ...conformance(), scenarios: told.length, scenariosFailed: failed.length };
}

/** Whether few enough scenarios are left out, and each entry of the list leaves one out: a check that counts as a test. */
export function judgeLeftOut(vitest: Vitest): Counts {
  const tests = scenariosIn(vitest);
  const out = tests.filter(
    (test) => reasonToLeaveOut(test.module.relativeModuleId, test.fullName) !== undefined,
  );
  const problems = LEFT_OUT.filter(
    ([file, name]) =>
      !tests.some((test) => test.module.relativeModuleId.endsWith(file) && test.fullName.includes(name)),
  ).map(([file, name]) => `the list of scenarios left out names one that is not there: ${file} > ${name}`);
  if (out.length > tests.length * LEFT_OUT_MAX)
    problems.push(`${out.length} of ${tests.length} scenarios are left out, which is too many`);
  for (const problem of problems) console.log(problem);
  return { passed: problems.length === 0 ? 1 : 0, failed: problems.length, skipped: 0 };
}

function scenariosIn(vitest: Vitest): readonly TestCase[] {
  return vitest.state
    .getTestModules()
    .filter(({ project }) => project.name === 'stories')
    .flatMap((module) => [...module.children.allTests()]);
}

function conformance(): Pick<Summary, 'comparisons' | 'unlisted' | 'listed'> {
  try {
    return JSON.parse(readFileSync(CONFORMANCE, 'utf8'));
  } catch {
    return { comparisons: 0, unlisted: 0, listed: 0 };
  }
}
