/**
 * `npm run proof`: a release under claims, in many different minutes, with Everwarm beside the operator and without it. Prints a
 * line a run and the sum; ends with 1 if anybody was hurt beside Everwarm, or if no claim ever landed in the dangerous gap.
 */
import { parseArgs } from 'node:util';
import { expectRest, flawsIn } from '../scenarios/_story.ts';
import { type Rush, rush } from './_rush.ts';

const { values: options } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    first: { type: 'string', default: '1' },
    without: { type: 'string', default: '20' },
  },
});
const first = Number(options.first);
const NOBODY: Sum = {
  runs: 0,
  came: 0,
  warm: 0,
  cold: 0,
  hurt: 0,
  onUsedPods: 0,
  onOldImage: 0,
  failedByEverwarm: 0,
  failedByOperator: 0,
  besideFence: 0,
  overFence: 0,
  flaws: 0,
};

const beside = await runs(Number(options.seeds), 'everwarm');
const without = await runs(Number(options.without), 'nobody');
console.log(`\nwithout Everwarm  ${sentence(without)}\nbeside Everwarm   ${sentence(beside)}`);
const { hurt, onUsedPods, failedByEverwarm, besideFence, flaws } = beside;
const isSafe = hurt + onUsedPods + failedByEverwarm + flaws === 0;
if (isSafe && besideFence === 0)
  console.log('no claim landed between a withdrawal and the second look: more seeds');
process.exitCode = isSafe && besideFence > 0 ? 0 : 1;

interface Sum {
  readonly runs: number;
  readonly came: number;
  readonly warm: number;
  readonly cold: number;
  readonly hurt: number;
  readonly onUsedPods: number;
  readonly onOldImage: number;
  readonly failedByEverwarm: number;
  readonly failedByOperator: number;
  readonly besideFence: number;
  readonly overFence: number;
  /** What was not as it should be when everybody had gone. */
  readonly flaws: number;
}

async function runs(count: number, who: 'nobody' | 'everwarm'): Promise<Sum> {
  const sums: Sum[] = [];
  for (let seed = first; seed < first + count; seed += 1) {
    const seen = await rush(seed, who);
    const flaws = who === 'everwarm' ? await flawsOf(seen) : [];
    const complaints = [...seen.hurt, ...seen.failedByEverwarm, ...flaws];
    const one = { ...counted(seen), flaws: flaws.length };
    sums.push(one);
    console.log(`seed ${seed}, ${who}: ${sentence(one)}${complaints.map((what) => `\n  ${what}`).join('')}`);
  }
  return sums.reduce(plus, NOBODY);
}

async function flawsOf({ world }: Rush): Promise<readonly string[]> {
  await world.settle();
  const flaws = flawsIn(world, 'java');
  try {
    await expectRest(world);
    return flaws;
  } catch (error) {
    return [...flaws, String(error)];
  }
}

function counted({ world: _, hurt, failedByEverwarm, ...counts }: Rush): Omit<Sum, 'flaws'> {
  return { runs: 1, ...counts, hurt: hurt.length, failedByEverwarm: failedByEverwarm.length };
}

function plus(a: Sum, b: Sum): Sum {
  return Object.fromEntries(
    Object.entries(a).map(([key, value]) => [key, value + b[key as keyof Sum]]),
  ) as unknown as Sum;
}

function sentence(sum: Sum): string {
  return [
    `${sum.came} users`,
    `${sum.warm} warm, ${sum.cold} cold`,
    `${sum.hurt} hurt`,
    `${sum.onUsedPods} on a used pod`,
    `${sum.onOldImage} on the old image`,
    `ERROR by Everwarm ${sum.failedByEverwarm}, by the operator ${sum.failedByOperator}`,
    `${sum.besideFence} claims between withdrawal and second look, ${sum.overFence} of them there`,
  ].join('; ');
}
