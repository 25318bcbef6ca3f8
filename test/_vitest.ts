import { relative } from 'node:path';
import type { TestCase, Vitest } from 'vitest/node';

export interface Counts {
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
}

/** Runs projects of vitest.config.ts one after the other in this process; `look` sees the results before they are gone. */
export async function runTests(
  projects: readonly string[],
  look: (vitest: Vitest) => Counts = () => ({ passed: 0, failed: 0, skipped: 0 }),
): Promise<Counts> {
  const { startVitest } = await import('vitest/node');
  const vitest = await startVitest('test', [], {
    project: [...projects],
    run: true,
    watch: false,
    allowOnly: false,
  });
  const [tests, more] = [count(vitest), look(vitest)];
  await vitest.close();
  return {
    passed: tests.passed + more.passed,
    failed: tests.failed + more.failed,
    skipped: tests.skipped + more.skipped,
  };
}

/** A file that does not load and an error outside of any test count as a failure each; so does a skip without a reason. */
function count(vitest: Vitest): Counts {
  const modules = vitest.state.getTestModules();
  const cases = modules.flatMap((module) => [...module.children.allTests()]);
  const passed = cases.filter((test) => test.result().state === 'passed').length;
  const skips = cases.filter((test) => test.result().state === 'skipped').map(skip);
  for (const { title, reason } of skips)
    console.log(`skipped: ${title}: ${reason ?? 'no reason given (fails)'}`);
  const unexplained = skips.filter(({ reason }) => reason === undefined).length;
  const notLoaded = modules.filter((module) => module.errors().length > 0).length;
  const strayErrors = vitest.state.getUnhandledErrors().length;
  return {
    passed,
    failed: cases.length - passed - skips.length + unexplained + notLoaded + strayErrors,
    skipped: skips.length - unexplained,
  };
}

function skip(test: TestCase) {
  const result = test.result();
  const reason = result.state === 'skipped' ? result.note : undefined;
  return { title: `${relative('', test.module.moduleId)} > ${test.fullName}`, reason };
}
