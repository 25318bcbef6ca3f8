import { type Command, InvalidArgumentError, Option } from 'commander';
import type { OpenCluster } from '../app/cluster.ts';
import type { PoolLook } from '../app/look.ts';
import type { PoolName } from '../app/names.ts';
import { poolLine } from '../app/pool-view.ts';
import { findPool } from '../app/queries.ts';
import {
  askedFor,
  beginRelease,
  endRelease,
  forecast,
  isKeptFor,
  type Progress,
  progressOf,
  releaseProblem,
  setImage,
} from '../app/release.ts';
import { type Cli, type ExitCode, UsageError } from './cli.ts';
import { drive } from './drive.ts';
import { asDurationMs, asPool, type ConnectionOptions, connect, withConnection } from './options.ts';
import { createReleaseTeller, type ReleaseTeller } from './release-lines.ts';

type At = (look: PoolLook) => Progress;

interface ReleaseOptions extends ConnectionOptions {
  readonly set?: string;
  readonly within: number;
  readonly abort?: boolean;
  readonly dryRun?: boolean;
}

/** How long the way back may take when a person has had enough. */
const CALL_OFF_MS = 20_000;
const EXAMPLES = `
Examples:
  everwarm release java-17 --dry-run                     only say what it would mean
  everwarm release java-17                               prepare, wait for the change (helm upgrade, kubectl apply)
  everwarm release java-17 --set image=ide/java:1.3.0    prepare, and change the image itself
  everwarm release java-17 --abort                       hand everything out again, the change is off`;

/** `everwarm release`: a release while the platform's operator runs, without its all-at-once. */
export function addRelease(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('release')
    .summary('prepare a release beside the running operator')
    .description(
      'A running operator replaces every unclaimed instance at once when the AppDefinition changes. This keeps them out of its reach ' +
        'first, waits until all are, lets the change come, hands them out again as they are, and leaves the roll-out to guard: a few at a ' +
        'time. Who comes in between gets a cold start. Nothing is lost when it is killed: what is kept is handed out again when the ' +
        'change has come, or after --within.',
    )
    .argument('<POOL>', '[[cluster/platform/]namespace/]name', asPool);
  withConnection(command)
    .addOption(new Option('--set <field=value>', 'make the change: image=REFERENCE').argParser(asImage))
    .addOption(
      new Option('--within <duration>', 'hand all out again if the change has not come by then')
        .argParser(asDurationMs)
        .default(600_000, '10m'),
    )
    .option('--abort', 'call it off: hand everything out again')
    .option('--dry-run', 'only say what it would mean')
    .addHelpText('after', EXAMPLES)
    .action(async (pool: PoolName, options: ReleaseOptions) => {
      if (options.abort === true && (options.set !== undefined || options.dryRun === true))
        throw new UsageError('--abort goes with neither --set nor --dry-run');
      end(await release(cli, pool, options));
    });
}

function asImage(text: string): string {
  const image = /^image=(\S+)$/.exec(text)?.[1];
  if (image !== undefined) return image;
  throw new InvalidArgumentError('write image=REFERENCE, as in image=registry.example.org/ide/java:1.3.0');
}

async function release(cli: Cli, name: PoolName, options: ReleaseOptions): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  try {
    const look = await findPool(cluster, name);
    const teller = createReleaseTeller(cli, options.json === true);
    const course: Course = { cli, cluster, name: look.observation.key, teller };
    if (options.abort === true) return await callOff(course, look);
    const problem = releaseProblem(look);
    if (problem !== undefined) {
      cli.complain(`everwarm: ${poolLine(look).pool} cannot be released: ${problem}`);
      return 1;
    }
    teller.forecast(forecast(look));
    return options.dryRun === true ? 0 : await carryOut(course, look, options);
  } finally {
    cluster.api.close();
  }
}

/** What one release goes on with from step to step. */
interface Course {
  readonly cli: Cli;
  readonly cluster: OpenCluster;
  readonly name: PoolName;
  readonly teller: ReleaseTeller;
}

/** Keep, let the change come, hand out again. */
async function carryOut(course: Course, look: PoolLook, { set, within }: ReleaseOptions): Promise<ExitCode> {
  const { cluster, teller, name } = course;
  const { api } = cluster;
  if (!look.observation.observed.operator.alive) {
    // Nobody replaces anything at once: there is nothing to be kept from.
    if (set !== undefined) await setImage(api, look, { asked: askedFor(look, within), image: set });
    teller.needless(poolLine(look).pool, set !== undefined);
    return 0;
  }
  const asked = await beginRelease(api, look, within);
  const at: At = (one) => progressOf(one, asked);
  if (!(await wait(course, at, ['preparing']))) return await interrupted(course, at);
  const ready = await findPool(cluster, name);
  if (at(ready).phase === 'prepared') {
    teller.prepared(at(ready), set === undefined);
    if (set !== undefined) await setImage(api, ready, { asked, image: set });
  }
  if (!(await wait(course, at, ['preparing', 'prepared']))) return await interrupted(course, at);
  return await finish(course, at);
}

/** The change is here, or will not come. */
async function finish(course: Course, at: At): Promise<ExitCode> {
  const { cli, cluster, name, teller } = course;
  const here = at(await findPool(cluster, name));
  if (here.phase === 'over') {
    teller.expired(here);
    return 1;
  }
  teller.changed(here);
  if (!(await wait(course, at, ['changed']))) {
    cli.complain('everwarm: the change is through; what is kept is handed out again by itself');
    return 1;
  }
  const look = await findPool(cluster, name);
  await endRelease(cluster.api, look);
  teller.handedOut(at(look));
  return 0;
}

/** Waits while the release is in one of these phases; false when asked to end before. */
function wait(
  { cli, cluster, name, teller }: Course,
  at: At,
  phases: readonly Progress['phase'][],
): Promise<boolean> {
  const isOpen = (look: PoolLook) => phases.includes(at(look).phase);
  return drive(cli, cluster, {
    open: async () => [await findPool(cluster, name)].filter(isOpen),
    // For the change itself nobody here can do anything.
    mayRest: (open) => open.every((look) => at(look).phase === 'prepared'),
    tell: teller.tell,
    signal: cli.signal,
  });
}

/** Before the change everything is put back; after it there is nothing to put back. */
async function interrupted(course: Course, at: At): Promise<ExitCode> {
  const look = await findPool(course.cluster, course.name);
  if (at(look).phase === 'changed') return 1;
  await callOff(course, look);
  return 1;
}

async function callOff(course: Course, look: PoolLook): Promise<ExitCode> {
  const { cli, cluster, name, teller } = course;
  await endRelease(cluster.api, look);
  const late = new AbortController();
  const cancel = cli.clock.after(CALL_OFF_MS, () => late.abort());
  const isOver = await drive(cli, cluster, {
    open: async () => [await findPool(cluster, name)].filter(isKeptFor),
    tell: teller.tell,
    signal: late.signal,
  });
  cancel();
  teller.calledOff(poolLine(look).pool, isOver);
  return isOver ? 0 : 1;
}
