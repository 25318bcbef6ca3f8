/**
 * `npm run fuzz [-- --runs N] [--seed N]`: a million knocks at the webhook's door, half of them rightly signed. Prints how they were
 * answered; ends with 1 when one of them was answered wrongly, told a secret, or reached anything but the queue.
 */
import { parseArgs } from 'node:util';
import { systemClock } from '../../src/clock.ts';
import { fuzz } from './_fuzz.ts';

const { values: options } = parseArgs({
  options: { runs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
});
const [runs, seed] = [Number(options.runs), Number(options.seed)];
if (!(Number.isInteger(runs) && runs > 0 && Number.isInteger(seed))) {
  console.error('usage: npm run fuzz [-- --runs N] [--seed N]');
  process.exit(2);
}

const startedAt = systemClock.now();
const seconds = () => Math.round((systemClock.now() - startedAt) / 1_000);
const onProgress = (done: number): void => {
  if (done % 50_000 === 0) console.error(`${done} of ${runs} after ${seconds()} s`);
};
const { answers, clusterConnections, enqueued, otherCalls, dead } = await fuzz({ runs, seed, onProgress });
for (const [name, count] of Object.entries(answers).sort()) console.log(`${name.padEnd(16)} ${count}`);
console.log(`${runs} knocks, seed ${seed}, ${seconds()} s: ${enqueued} keys enqueued, no secret told,`);
console.log(
  `${clusterConnections} connections to the cluster, ${dead} dead messages; asked besides: ${otherCalls.join(', ')}`,
);
const isSafe = enqueued === (answers['202 signed'] ?? 0) && clusterConnections + dead === 0;
process.exit(isSafe ? 0 : 1);
