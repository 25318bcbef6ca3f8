/**
 * `npm run permutations [-- --seeds N] [--first N]`: one course of events, whose news are lost, doubled, reordered, held back and put
 * back on their way after an hour in 10,000 ways. Ends with 1 when any of them leads to other objects, or to a write at a second look.
 */
import { parseArgs } from 'node:util';
import { permute } from './_permutations.ts';

const { values: options } = parseArgs({
  options: { seeds: { type: 'string', default: '10000' }, first: { type: 'string', default: '1' } },
});
const [seeds, first] = [Number(options.seeds), Number(options.first)];
/** So often is a line about how far it is: a long run may be stopped and gone on with. */
const ROUND = 100;

let odd = 0;
const sums = { sent: 0, lost: 0, doubled: 0, late: 0, redriven: 0 };
for (let at = first; at < first + seeds; at += ROUND) {
  const permuted = await permute(at, Math.min(ROUND, first + seeds - at));
  for (const { seed, why } of permuted.odd) console.log(`--first ${seed} --seeds 1: ${why}`);
  odd += permuted.odd.length;
  for (const name of ['sent', 'lost', 'doubled', 'late', 'redriven'] as const)
    sums[name] += permuted.sums[name];
  const { sent, lost, doubled, late, redriven } = sums;
  console.log(
    `${at - first + permuted.runs} ways, ${odd} to another end; of ${sent} notices ${lost} lost, ${doubled} doubled, ${late} late, ${redriven} after an hour`,
  );
}
process.exit(odd === 0 ? 0 : 1);
