import { describe, expect, it } from 'vitest';
import { createReporter } from './_report.ts';
import type { Step } from './_steps.ts';

const step = (name: string, seconds: number, rest: Partial<Step> = {}): Step => ({
  side: 'embedded',
  step: name,
  seconds,
  requests: 100,
  writes: 100,
  writesEach: 5,
  cpuMs: 100,
  cpuOf: 'this process',
  ...rest,
});

function told(asJson: boolean, steps: readonly Step[], missing?: string): readonly string[] {
  const lines: string[] = [];
  const reporter = createReporter(asJson, (line) => lines.push(line));
  reporter.begin();
  for (const each of steps) reporter.step(each);
  reporter.end(missing);
  return lines;
}

describe('the report of bench:real', () => {
  it('says in its last line which goals were missed, and how long it took beside a Deployment', () => {
    const steps = [
      step('Deployment: fill 200', 2),
      step('fill 200', 3.2, { writesEach: 6.03 }),
      step('roll out 50', 18, { fewestReady: 37 }),
    ];
    const summary = JSON.parse(told(true, steps).at(-1) ?? '');
    expect(summary).toMatchObject({
      type: 'Summary',
      embedded: {
        steps: 3,
        missed: ['fill 200: s', 'roll out 50: fewest ready'],
        timesDeployment: { 'fill 200': 1.6 },
      },
      real: { steps: 0 },
    });
  });

  it('says why nothing was measured on a real API server', () => {
    const lines = told(true, [step('fill 200', 3)], 'Go is not installed');
    expect(JSON.parse(lines.at(-1) ?? '').real).toEqual({ steps: 0, missing: 'Go is not installed' });
  });

  it('shows a person what others need beside what was measured', () => {
    const table = told(false, [step('hand-deleted', 1.3)]);
    const row = table.find((line) => line.startsWith('hand-deleted, back after'));
    expect(row).toMatch(/1\.02 +1\.05 +1\.04 +never +≤ 1\.1 +1\.3 \(missed\)/);
  });
});
