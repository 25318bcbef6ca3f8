/**
 * `npm run test:e2e`: incident 2 told with forwarder, SQS, the packaged functions and an API server as processes of their own,
 * once with nothing but lost notices and once a seed with one process ended at a write that the seed says. `--seed N` tells one
 * of them again, `--runs N` tells of more; with `--real` they share a real kube-apiserver; `--json` prints what it came to in one line. Ends with 1 if one did not heal.
 */
import { parseArgs } from 'node:util';
import { packageService } from '../functions/_template.ts';
import { install } from '../real/_installed.ts';
import { type RealCluster, startRealCluster } from '../real-cluster/cluster.ts';
import { makePackages } from './_scene.ts';
import { differences, roleFlaws, type Told, tellAll } from './_told.ts';

// Whoever is asked to end takes his processes with him.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const { values: options } = parseArgs({
  options: {
    runs: { type: 'string', default: '20' },
    seed: { type: 'string' },
    lanes: { type: 'string', default: '3' },
    real: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});
const { seed } = options;
for (const number of [options.runs, options.lanes, seed ?? '0'])
  if (!/^\d{1,6}$/.test(number)) {
    console.error(`not a number: ${number}`);
    process.exit(2);
  }
const seeds =
  seed === undefined
    ? [undefined, ...Array.from({ length: Number(options.runs) }, (_, at) => at + 1)]
    : [Number(seed)];
let count = 0;
const say = (text: string): void => (options.json ? console.error(text) : console.log(text));

say('packaging the functions');
const packages = await makePackages();
const cluster = options.real ? await startReal() : undefined;
say(`telling ${seeds.length} stories, ${options.lanes} at a time, about half a minute each`);
const told = await tellAll({
  packages,
  seeds,
  lanes: Number(options.lanes),
  onTold,
  ...(cluster === undefined ? {} : { real: cluster }),
});
await packages.remove();
await cluster?.stop();
const isWhole = seed === undefined;
const common = [
  ...differences(told),
  ...(isWhole
    ? roleFlaws(
        packageService().template,
        told.flatMap(({ calls }) => calls),
      )
    : []),
];
for (const complaint of common) say(`FAILED  ${complaint}`);
const healed = told.filter(({ complaints }) => complaints.length === 0).length;
const failed = told.length - healed + common.length;
say(`${told.length} runs, ${healed} healed, ${failed} failed`);
if (options.json) console.log(JSON.stringify({ runs: told.length, healed, failed }));
process.exitCode = failed === 0 ? 0 : 1;

async function startReal(): Promise<RealCluster> {
  say('starting kube-apiserver, etcd and kube-controller-manager');
  const started = await startRealCluster();
  await install(started);
  return started;
}

function onTold({ seed: of, title, complaints, writes, seconds }: Told): void {
  count += 1;
  const verdict = complaints.length === 0 ? 'healed' : 'FAILED';
  const what = of === undefined ? title : `seed ${of}, ${title}`;
  say(
    `${String(count).padStart(3)}/${seeds.length}  ${verdict}  ${what}: ${writes} writes, ${Math.round(seconds)} s`,
  );
  for (const complaint of complaints) say(`      ${complaint}`);
  if (complaints.length > 0 && of !== undefined) say(`      again: npm run test:e2e -- --seed ${of}`);
}
