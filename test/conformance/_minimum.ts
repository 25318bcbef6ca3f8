import type { Census } from './_census.ts';
import { KINDS, type Kind } from './_kinds.ts';

/** How often a verb on a kind must have been answered with a code. */
interface Cell {
  readonly verb: string;
  readonly kind: string;
  readonly code: number;
  readonly least: number;
}

const EVERY: readonly (readonly [string, number, number])[] = [
  ['get', 200, 1],
  ['get', 404, 1],
  ['list', 200, 3],
  ['create', 201, 20],
  ['create', 400, 1],
  ['create', 409, 1],
  ['create', 422, 5],
  ['update', 200, 3],
  ['patch', 200, 4],
  ['patch', 404, 1],
  ['patch', 422, 2],
  ['delete', 200, 3],
  ['delete', 404, 1],
];
/** What depends on a state that not every kind comes into: over all kinds together. */
const TOGETHER: readonly (readonly [string, string, number, number])[] = [
  ['update', '', 409, 15],
  ['patch', '', 409, 3],
  ['delete', '', 409, 10],
  ['patch', '/status', 200, 25],
  ['update', '/status', 200, 25],
];
/** The same for what most kinds do not have. */
const WATCHED = ['configmaps', 'secrets', 'widgets', 'plains', 'leases', 'warmpools', 'appdefinitions'];

function cellsOf({ plural, dry, scale }: Kind): readonly Cell[] {
  if (dry === true) return [{ verb: 'create', kind: plural, code: 422, least: 5 }];
  const cells = EVERY.map(([verb, code, least]): Cell => ({ verb, kind: plural, code, least }));
  if (scale === true) cells.push({ verb: 'patch', kind: `${plural}/scale`, code: 200, least: 1 });
  if (WATCHED.includes(plural)) cells.push({ verb: 'watch', kind: plural, code: 200, least: 2 });
  return cells;
}

/** Reading is easy: no more than this share of all requests may be gets and lists. */
const READS_MAX = 0.35;

/** What a campaign has not asked often enough, one line each. */
export function shortcomings(census: Census): readonly string[] {
  const short = KINDS.flatMap(cellsOf).flatMap(({ verb, kind, code, least }) => {
    const count = census.count(verb, kind, code);
    return count >= least ? [] : [`${verb} ${kind} ${code}: ${count} of ${least}`];
  });
  for (const [verb, below, code, least] of TOGETHER) {
    const count = KINDS.reduce((sum, { plural }) => sum + census.count(verb, plural + below, code), 0);
    if (count < least) short.push(`${verb} *${below} ${code}: ${count} of ${least}`);
  }
  const reads = census.verb('get') + census.verb('list');
  return reads <= READS_MAX * census.size ? short : [...short, `${reads} of ${census.size} are reads`];
}
