/**
 * `npm run bench:real [-- --json] [-- --side embedded|real]`: a pool of 200 is filled, one of 50 rolled, one instance deleted by
 * hand, on the embedded and on a real API server, and the same done to a plain Deployment. What others need for it is printed
 * beside. Figures on a busy machine say little: writes and processor time are what can be compared between machines.
 */
import { parseArgs } from 'node:util';
import { findBinaries } from '../real-cluster/build.ts';
import { createReporter } from './_report.ts';
import { embeddedSide, realSide, type Side } from './_sides.ts';
import { measureSide } from './_steps.ts';

const { values: options } = parseArgs({
  options: { json: { type: 'boolean', default: false }, side: { type: 'string', default: 'both' } },
});
const OPEN = { embedded: [embeddedSide], real: [realSide], both: [embeddedSide, realSide] };
const wanted = Object.entries(OPEN).find(([name]) => name === options.side)?.[1];
if (wanted === undefined) {
  console.error(`--side ${options.side}: it is ${Object.keys(OPEN).join(', ')}`);
  process.exit(2);
}

const binaries = findBinaries();
const missing = binaries.kind === 'missing' ? binaries.reason : undefined;
if (missing !== undefined) progress(`without a real API server: ${missing}`);

let current: Side | undefined;
const ends = { SIGINT: 130, SIGTERM: 143 } as const;
for (const [signal, code] of Object.entries(ends))
  process.once(signal, () => {
    progress(`${signal}: ending what was started`);
    // What a side has not told of yet ends by itself: the cluster's guardian sees that nobody holds it any more.
    void (current?.stop() ?? Promise.resolve()).finally(() => process.exit(code));
  });

const reporter = createReporter(options.json, (line) => console.log(line));
reporter.begin();
for (const open of wanted) {
  if (open === realSide && missing !== undefined) continue;
  progress(`${open === realSide ? 'real' : 'embedded'}: the cluster is started`);
  current = await open();
  try {
    await measureSide(current, { tell: reporter.step, progress });
  } finally {
    await current.stop();
    current = undefined;
  }
}
reporter.end(missing);
process.exit(0);

function progress(what: string): void {
  console.error(what);
}
