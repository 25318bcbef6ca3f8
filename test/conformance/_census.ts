import type { Step } from './_program.ts';

/** How often each verb on each kind was answered with each code. */
export class Census {
  readonly #counts = new Map<string, Map<number, number>>();

  /** How many requests were compared. */
  get size(): number {
    return [...this.#counts.values()].flatMap((codes) => [...codes.values()]).reduce((a, b) => a + b, 0);
  }

  note(step: Step, code: number): void {
    const verb = step.do === 'send' ? step.verb : 'watch';
    if (step.do === 'wait' || step.do === 'close') return;
    const row = `${verb} ${step.kind}`;
    const codes = this.#counts.get(row) ?? new Map<number, number>();
    codes.set(code, (codes.get(code) ?? 0) + 1);
    this.#counts.set(row, codes);
  }

  count(verb: string, kind: string, code: number): number {
    return this.#counts.get(`${verb} ${kind}`)?.get(code) ?? 0;
  }

  /** All of one verb. */
  verb(verb: string): number {
    const rows = [...this.#counts].filter(([row]) => row.startsWith(`${verb} `));
    return rows.flatMap(([, codes]) => [...codes.values()]).reduce((a, b) => a + b, 0);
  }

  /** The table, one line a verb and kind. */
  table(): string {
    const lines = [...this.#counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([row, codes]) => {
        const cells = [...codes].sort(([a], [b]) => a - b).map(([code, count]) => `${code}: ${count}`);
        return `${row.padEnd(44)} ${cells.join('  ')}`;
      });
    return `${lines.join('\n')}\n`;
  }
}
