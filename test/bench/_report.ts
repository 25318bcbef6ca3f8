import { cpus, loadavg } from 'node:os';
import { BARS, type Bar, rounded, SOURCE } from './_bars.ts';
import type { Step } from './_steps.ts';

/** Where what was measured is told: a table for a person, or a line of JSON each, of which the last is the summary. */
export interface Reporter {
  begin(): void;
  step(step: Step): void;
  /** Everything beside what others need. `missing`: why there is no real API server. */
  end(missing: string | undefined): void;
}

/** Writes with `print`, a line a call. */
export function createReporter(asJson: boolean, print: (line: string) => void): Reporter {
  const steps: Step[] = [];
  return {
    begin: () => {
      if (!asJson) print(HEAD);
    },
    step: (step) => {
      steps.push(step);
      print(asJson ? JSON.stringify({ type: 'Step', ...exactEnough(step), load: load() }) : lineOf(step));
    },
    end: (missing) => {
      const rows = BARS.map((bar) => ({ bar, here: hereOf(bar, steps) }));
      if (!asJson) {
        tableOf(rows).forEach(print);
        return;
      }
      for (const { bar, here } of rows) {
        const { here: _, ...facts } = bar;
        print(JSON.stringify({ type: 'Bar', ...facts, ...here }));
      }
      print(JSON.stringify(summaryOf(steps, rows, missing)));
    },
  };
}

const SIDES = ['embedded', 'real'] as const;
const COLUMNS = ['s', 'requests', 'writes', 'writes each', 'CPU ms', 'fewest ready'];
const HEAD = row('', 'step', COLUMNS);

type Here = Partial<Record<(typeof SIDES)[number], { readonly value: string; readonly met?: boolean }>>;

interface Row {
  readonly bar: Bar;
  readonly here: Here;
}

function hereOf(bar: Bar, steps: readonly Step[]): Here {
  return Object.fromEntries(
    SIDES.flatMap((side) => {
      const found = bar.here?.((name) => steps.find((step) => step.side === side && step.step === name));
      return found === undefined ? [] : [[side, found]];
    }),
  );
}

function tableOf(rows: readonly Row[]): readonly string[] {
  const heads = ['', 'Deployment', 'agent-sandbox', 'Kruise', 'Theia operator', 'goal', 'embedded', 'real'];
  const cells = rows.map(({ bar, here }) => {
    const { what, deployment, agentSandbox, kruise, operator, goal, elsewhere } = bar;
    const measured = SIDES.map((side) => say(here[side]) ?? elsewhere ?? '–');
    return [what, deployment, agentSandbox, kruise, operator, goal, ...measured];
  });
  const widths = heads.map((head, at) =>
    Math.max(...[head, ...cells.map((line) => line[at] ?? '')].map(size)),
  );
  const lines = [heads, ...cells].map((line) =>
    line
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return ['', ...lines, '', `The others: ${SOURCE}.`, `Here: ${machine()}, load ${load()}.`];
}

function summaryOf(steps: readonly Step[], rows: readonly Row[], missing: string | undefined) {
  const sides = SIDES.map((side) => {
    const judged = rows.flatMap(({ bar, here }) =>
      here[side]?.met === undefined ? [] : [{ bar, met: here[side].met }],
    );
    if (judged.length === 0) return [side, { steps: 0, ...(missing === undefined ? {} : { missing }) }];
    const missed = judged.filter(({ met }) => !met).map(({ bar }) => bar.what);
    const ratios = Object.fromEntries(
      ['fill 200', 'roll out 50', 'hand-deleted'].map((name) => [name, timesDeployment(steps, side, name)]),
    );
    const taken = steps.filter((step) => step.side === side).length;
    return [side, { steps: taken, goals: judged.length, missed, timesDeployment: ratios }];
  });
  return { type: 'Summary', ...Object.fromEntries(sides), source: SOURCE, machine: machine(), load: load() };
}

function timesDeployment(steps: readonly Step[], side: string, name: string): number | undefined {
  const secondsOf = (step: string) => steps.find((each) => each.side === side && each.step === step)?.seconds;
  const [ours, plain] = [secondsOf(name), secondsOf(`Deployment: ${name}`)];
  return ours === undefined || plain === undefined ? undefined : rounded(ours / plain);
}

function say(figure: Here[keyof Here]): string | undefined {
  if (figure === undefined) return undefined;
  return figure.met === false ? `${figure.value} (missed)` : figure.value;
}

function lineOf(step: Step): string {
  const { seconds, requests, writes, writesEach, cpuMs, fewestReady } = exactEnough(step);
  return row(step.side, step.step, [seconds, requests, writes, writesEach, cpuMs, fewestReady ?? '–']);
}

function row(side: string, step: string, cells: readonly (string | number)[]): string {
  return `${side.padEnd(9)} ${step.padEnd(26)}${cells.map((cell) => String(cell).padStart(13)).join('')}`;
}

function exactEnough(step: Step) {
  const { seconds, writesEach, cpuMs } = step;
  return { ...step, seconds: rounded(seconds), writesEach: rounded(writesEach), cpuMs: Math.round(cpuMs) };
}

const size = (text: string): number => text.length;

function machine(): string {
  return `${cpus().length} cores (${cpus()[0]?.model.trim() ?? 'unknown'})`;
}

function load(): number {
  return Number((loadavg()[0] ?? 0).toFixed(1));
}
