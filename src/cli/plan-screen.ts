import type { PlanView } from '../app/plan-view.ts';
import { RISKS } from '../app/words.ts';
import { type Paint, ranges, wrap } from './render.ts';

interface Drawing {
  readonly paint: Paint;
  /** Columns of the terminal; none in a pipe. */
  readonly width: number | undefined;
}

/** What would be done about one pool, in order; slots of which the same is said together. */
export function planScreen(view: PlanView, drawing: Drawing): readonly string[] {
  const { paint, width } = drawing;
  const { problem } = view;
  const wrapped = (text: string, indent: string): readonly string[] => wrap(text, width, indent);
  return [
    ...wrapped(`${paint(view.pool, 'bold')}  ${modeOf(view)}`, '  '),
    ...(problem === undefined ? [] : wrapped(`  ${paint(problem, 'red')}`, '  ')),
    ...nothingOf(view),
    ...stepsOf(view, drawing),
    ...linesOf(view.found ?? [], 'found', paint).flatMap((line) => wrapped(line, '     ')),
    ...linesOf(view.held, 'later', paint).flatMap((line) => wrapped(line, '     ')),
    ...waitingOf(view).flatMap((line) => wrapped(line, '     ')),
    ...(view.nextCheckAt === undefined || !view.carriedOut ? [] : [`  next look at ${view.nextCheckAt}`]),
  ];
}

function modeOf({ mode, carriedOut, problem, actions }: PlanView): string {
  if (carriedOut || problem !== undefined) return `mode ${mode}`;
  return actions.length === 0
    ? `mode ${mode}: nothing is done`
    : `mode ${mode}: nothing is done. In mode guard it would begin with this`;
}

function nothingOf({ actions, writesStatus, problem, found = [] }: PlanView): readonly string[] {
  if (actions.length > 0 || problem !== undefined || found.length > 0) return [];
  return [`  ${writesStatus ? 'only the status would be written' : 'nothing to do'}`];
}

/** One step an entry: what, why, and the risk with the word for it first. */
function stepsOf({ actions }: PlanView, { paint, width }: Drawing): readonly string[] {
  const groups = [
    ...Map.groupBy(actions, ({ what, why, riskLevel }) => JSON.stringify([what, why, riskLevel])).values(),
  ];
  return groups.flatMap((alike, at) => {
    const [first] = alike;
    if (first === undefined) return [];
    const number = `${at + 1}.`.padStart(4);
    const slots = [...new Set(alike.map(({ slot }) => slot))].filter((slot) => slot !== '-');
    const where = slots.length === 0 ? '' : `${slotsName(slots)}: `;
    const [word] = RISKS[first.riskLevel];
    const rest = first.risk.replace(/^none(: )?/, '');
    const risk = rest === '' ? word : `${word}: ${rest}`;
    return [
      ...wrap(`${number} ${where}${first.what}`, width, '     '),
      ...wrap(`     ${paint('because', 'dim')} ${first.why}`, width, '             '),
      ...wrap(`     ${paint('risk', 'dim')}    ${risk}`, width, '             '),
    ];
  });
}

/** Why a withdrawal waits: its risk is the one of those that go first. */
const TAKES_AWAY: ReadonlySet<string> = new Set(['budget', 'batch', 'announced', 'quiet', 'paused']);

function linesOf(held: PlanView['held'], word: 'found' | 'later', paint: Paint): readonly string[] {
  const risk = `${paint('risk', 'dim')} ${RISKS.fewerWarm[0]}`;
  const groups = Map.groupBy(held, ({ why, reason }) => `${why}${TAKES_AWAY.has(reason) ? `; ${risk}` : ''}`);
  return [...groups].map(([why, alike]) => {
    const slots = alike.map(({ slot }) => slot);
    const who = slots.includes('*') ? 'the pool' : slotsName(slots);
    return `  ${paint(word, 'yellow')}  ${who}: ${why}`;
  });
}

function waitingOf({ waiting, carriedOut }: PlanView): readonly string[] {
  if (!carriedOut) return [];
  return waiting.map(({ slot, what, since }) => {
    const who = slot === '*' ? 'the pool' : `slot ${slot}`;
    return `  ${who} waits since ${since}: ${what}`;
  });
}

function slotsName(slots: readonly string[]): string {
  const isNumbered = slots.every((slot) => /^\d+$/.test(slot));
  return `${slots.length === 1 ? 'slot' : 'slots'} ${isNumbered ? ranges(slots) : slots.join(', ')}`;
}
