import { type Command, Option } from 'commander';
import { type ClusterChoice, type Mode, openCluster } from '../app/cluster.ts';
import { installWarmPoolKind } from '../app/install.ts';
import type { PoolLook } from '../app/look.ts';
import { poolLine, poolView } from '../app/pool-view.ts';
import { servedPools } from '../app/served.ts';
import type { TimelineEvent } from '../app/story.ts';
import { type Running, type UpDeps, untilSettled, upLocal, upOn } from '../app/up.ts';
import { createLog, type Log } from '../telemetry/log.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { formatDuration } from './durations.ts';
import { keepHeapSmall } from './heap.ts';
import { asDurationMs, asFraction, asPort, jsonOption, namespaceOption } from './options.ts';
import { createPaint, shownPath } from './render.ts';
import { block, createTimeline, timelineHead } from './timeline.ts';

interface UpOptions {
  readonly cluster?: 'embedded' | 'external';
  readonly world: 'demo' | 'empty';
  readonly port: number;
  readonly kubeconfigOut?: string;
  readonly readyAfter: number;
  readonly resync: number;
  readonly dropEvents: number;
  readonly mode?: Mode;
  readonly untilSettled?: boolean;
  readonly for?: number;
  readonly json?: boolean;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly namespace?: readonly string[];
  readonly inCluster?: boolean;
  readonly installCrds?: boolean;
  readonly healthPort?: number;
}

const REAL = ['kubeconfig', 'inCluster'];
/** How long the header waits for the first look at a real cluster. */
const FIRST_LOOK_MS = 3_000;
const EXAMPLES = `
Examples:
  everwarm up                                      the demo: a release rolls through a pool in use
  everwarm up --until-settled --json | tail -1     the same, once, for a script
  everwarm up --world empty --port 7443            an empty cluster for kubectl
  everwarm up --kubeconfig ~/.kube/config -n ide   look at a real cluster, change nothing
  everwarm up --kubeconfig F -n ide --mode guard   keep its pools converged
  everwarm up --cluster external -n ide            look at the cluster of $KUBECONFIG`;

/** `everwarm up`: everything in one process, on a cluster of its own or on one that is there. */
export function addUp(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('up')
    .summary('keep pools converged, in a cluster of its own or a real one')
    .description(
      'Runs the whole of Everwarm in one process: forwarder, signed webhook, queue, reconcile and resync. Without --kubeconfig or ' +
        '--in-cluster it brings a cluster of its own, in memory, which kubectl can talk to.',
    );
  withWorld(command)
    .option('--until-settled', 'end when the script is over and every pool has converged or is blocked')
    .addOption(new Option('--for <duration>', 'end after this time').argParser(asDurationMs))
    .addOption(
      new Option(
        '--cluster <cluster>',
        'embedded: one of its own; external: that of --kubeconfig, or of $KUBECONFIG where none is named',
      ).choices(['embedded', 'external']),
    )
    .option('--kubeconfig <file>', 'serve the cluster of this kubeconfig instead')
    .option('--context <name>', 'context in the kubeconfig (default: its current one)')
    .addOption(namespaceOption())
    .addOption(new Option('--in-cluster', 'serve the cluster in which this pod runs').conflicts('kubeconfig'))
    .option('--install-crds', 'install the WarmPool kind in the real cluster first')
    .addOption(
      new Option(
        '--health-port <n>',
        "serve /livez, /readyz and /metrics of a real cluster's loop here, 0 for a free one",
      ).argParser(asPort),
    )
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (given: UpOptions, command: Command) => {
      const options = withCluster(given, command, cli);
      refuseStrays(options, command);
      end(await up(cli, options));
    });
}

/** The flags of a cluster of its own, and those of the loop. */
function withWorld(command: Command): Command {
  return command
    .addOption(
      new Option('--world <world>', 'what its own cluster begins with')
        .choices(['demo', 'empty'])
        .default('demo')
        .conflicts(REAL),
    )
    .addOption(
      new Option('--port <n>', "port of its own cluster's API, 0 for a free one")
        .argParser(asPort)
        .default(0)
        .conflicts(REAL),
    )
    .addOption(
      new Option(
        '--kubeconfig-out <file>',
        'where to write the kubeconfig of its own cluster (default: .everwarm/kubeconfig)',
      ).conflicts(REAL),
    )
    .addOption(
      new Option('--ready-after <duration>', 'how long pods of its own cluster take to get ready')
        .argParser(asDurationMs)
        .default(1_000, '1s')
        .conflicts(REAL),
    )
    .addOption(
      new Option('--resync <duration>', 'how often every pool is looked at unasked')
        .argParser(asDurationMs)
        .default(60_000, '1m'),
    )
    .addOption(
      new Option(
        '--drop-events <fraction>',
        'lose this part of the notices, 0 to 1; requests by hand and resyncs stay',
      )
        .argParser(asFraction)
        .default(0),
    )
    .addOption(
      new Option(
        '--mode <mode>',
        'mode of pools that name none (default: guard in its own cluster, observe in a real one)',
      ).choices(['observe', 'guard']),
    );
}

/** Names the kubeconfig that `--cluster external` leaves to the environment, and refuses what contradicts it. */
function withCluster(options: UpOptions, command: Command, cli: Cli): UpOptions {
  const { cluster, kubeconfig, inCluster } = options;
  const isNamed = kubeconfig !== undefined || inCluster === true;
  if (cluster === 'embedded' && isNamed)
    command.error(
      'error: --cluster embedded brings a cluster of its own: leave out --kubeconfig and --in-cluster',
    );
  if (cluster !== 'external' || isNamed) return options;
  const own = (['world', 'port', 'kubeconfigOut', 'readyAfter'] as const).find(
    (name) => command.getOptionValueSource(name) === 'cli',
  );
  if (own !== undefined)
    command.error(`error: --${flagOf(own)} is for a cluster of its own, not for --cluster external`);
  return { ...options, kubeconfig: cli.config.kubeconfig };
}

/** `kubeconfigOut` is `--kubeconfig-out`. */
function flagOf(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

function refuseStrays(options: UpOptions, command: Command): void {
  const isReal = options.kubeconfig !== undefined || options.inCluster === true;
  const stray = (['context', 'namespace', 'installCrds', 'healthPort'] as const).find(
    (name) => options[name] !== undefined,
  );
  if (isReal || stray === undefined) return;
  const flags = {
    context: '--context',
    namespace: '-n',
    installCrds: '--install-crds',
    healthPort: '--health-port',
  };
  const flag = flags[stray];
  command.error(`error: ${flag} is for a real cluster: add --kubeconfig FILE or --in-cluster`);
}

async function up(cli: Cli, options: UpOptions): Promise<ExitCode> {
  keepHeapSmall();
  const timeline = options.json === true ? undefined : createTimeline(cli);
  const tell = (event: TimelineEvent): void => {
    if (timeline !== undefined) timeline.add(event);
    else printJson(cli, event.type, withoutType(event));
  };
  const { clock, random } = cli;
  const deps: UpDeps = { clock, random, log: logOf(cli, options), tell };
  const running = await start(cli, options, deps);
  let end: End;
  try {
    await sayReady(cli, options, running);
    end = await serve(cli, options, running);
  } finally {
    await running.stop();
  }
  // Passes that had begun are told of before the last line.
  timeline?.flush();
  sayEnd(cli, options, end);
  return exitCodeOf(end, cli.signal.aborted);
}

function start(cli: Cli, options: UpOptions, deps: UpDeps): Promise<Running> {
  const loop = { resyncMs: options.resync, dropNotices: options.dropEvents };
  if (options.kubeconfig === undefined && options.inCluster !== true) {
    const { world, port, kubeconfigOut, readyAfter, mode = 'guard' } = options;
    const out = kubeconfigOut === undefined ? {} : { kubeconfigOut };
    return upLocal({ ...loop, ...out, world, port, readyAfterMs: readyAfter, mode }, deps);
  }
  return startOnReal(cli, options, deps, loop);
}

async function startOnReal(
  cli: Cli,
  options: UpOptions,
  deps: UpDeps,
  loop: { readonly resyncMs: number; readonly dropNotices: number },
): Promise<Running> {
  const { kubeconfig, context, mode, namespace = [] } = options;
  const choice: ClusterChoice = {
    namespaces: namespace,
    ...(kubeconfig === undefined ? { inCluster: cli.config.service } : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
    ...(mode === undefined ? {} : { mode }),
    ...(cli.config.settings === undefined ? {} : { settings: cli.config.settings }),
  };
  const cluster = await openCluster(choice, cli);
  if (options.installCrds === true) await installWarmPoolKind(cluster.api);
  // A pod's probes come from outside of it; on a person's machine nobody else is meant to look.
  const host = kubeconfig === undefined ? '0.0.0.0' : '127.0.0.1';
  const health = options.healthPort === undefined ? {} : { health: { host, port: options.healthPort } };
  return upOn(cluster, { ...loop, ...health, kubeconfig: kubeconfig ?? '' }, deps);
}

/** Reports what goes wrong; what goes right is the timeline's. */
function logOf({ clock, complain }: Cli, { json }: UpOptions): Log {
  const log = createLog({
    clock,
    format: json === true ? 'json' : 'human',
    write: (line) => complain(line.trimEnd()),
  });
  return { ...log, info: () => {} };
}

async function sayReady(cli: Cli, options: UpOptions, running: Running): Promise<void> {
  const { addresses } = running;
  if (options.json === true) {
    printJson(cli, 'Ready', addresses);
    return;
  }
  const paint = createPaint(cli.hasColor);
  const file = shownPath(addresses.kubeconfig);
  const isReal = options.kubeconfig !== undefined || options.inCluster === true;
  const rows: readonly (readonly [string, string])[] = [
    ['API server', addresses.server],
    ['webhook', addresses.webhook],
    ['namespace', addresses.namespace],
    ...(addresses.health === undefined ? [] : [['health', addresses.health] as const]),
    ...(addresses.kubeconfig === '' ? [] : [['kubeconfig', file] as const]),
    ...(isReal ? [['pools', await poolsIn(cli, running)] as const] : []),
    ...(options.dropEvents > 0 ? [['note', lossOf(options)] as const] : []),
  ];
  cli.print(
    `${paint('Everwarm is up.', 'bold')}${addresses.kubeconfig === '' ? '' : ' In another terminal:'}`,
  );
  if (addresses.kubeconfig !== '') {
    const [namespace] = options.namespace ?? [];
    const context = options.context === undefined ? '' : ` --context ${options.context}`;
    const there = `--kubeconfig ${file}${context}${namespace === undefined ? '' : ` -n ${namespace}`}`;
    cli.print('');
    cli.print(`  kubectl ${there} get warmpools -w`);
    cli.print(`  npm run -s everwarm -- status ${there}`);
  }
  cli.print('');
  for (const line of block(rows, paint)) cli.print(line);
  cli.print('');
  cli.print(timelineHead(cli.hasColor));
}

function lossOf({ dropEvents, resync }: UpOptions): string {
  const lost = `${Math.round(dropEvents * 100)} % of the notices are lost on purpose`;
  return `${lost}; what they told of is found at the next resync, every ${formatDuration(resync)}`;
}

/** What is served; whoever waits longer for the cluster reads of it in the log. */
function poolsIn({ clock, signal }: Cli, running: Running): Promise<string> {
  const patience = clock.sleep(FIRST_LOOK_MS, signal).then(() => 'the cluster has not answered yet');
  return Promise.race([servedPools(() => running.look()), patience]);
}

interface End {
  readonly waitedToSettle: boolean;
  readonly isSettled: boolean;
  readonly looks: readonly PoolLook[];
  readonly violations: number;
}

/** Runs until it is settled, the time is over or somebody asks for the end, whatever comes first. */
async function serve(cli: Cli, options: UpOptions, running: Running): Promise<End> {
  const over = new AbortController();
  const cancel = options.for === undefined ? () => {} : cli.clock.after(options.for, () => over.abort());
  const signal = AbortSignal.any([over.signal, cli.signal]);
  const waitedToSettle = options.untilSettled === true;
  await running.play(signal, !waitedToSettle);
  const settled = waitedToSettle ? await untilSettled(running, cli.clock, signal) : [];
  if (!waitedToSettle) await aborted(signal);
  cancel();
  const isSettled = settled.length > 0;
  const looks = isSettled ? settled : await running.look().catch(() => []);
  return { waitedToSettle, isSettled, looks, violations: running.violations() };
}

/** A world that did not settle in its time is a problem; one that was told to end is none. */
function exitCodeOf({ waitedToSettle, isSettled, looks, violations }: End, wasToldToEnd: boolean): ExitCode {
  if (violations > 0) return 1;
  if (!waitedToSettle || (wasToldToEnd && !isSettled)) return 0;
  return !isSettled || looks.some((look) => poolView(look).degraded) ? 1 : 0;
}

function sayEnd(cli: Cli, { json }: UpOptions, { isSettled, looks, violations }: End): void {
  const pools = looks.map(poolLine);
  if (json === true) {
    printJson(cli, isSettled ? 'Settled' : 'Stopped', { violations, pools });
    return;
  }
  cli.print('');
  const paint = createPaint(cli.hasColor);
  const word = isSettled ? 'Settled' : 'Stopped';
  cli.print(
    `${paint(word, 'bold')}, ${violations === 0 ? 'no promise was broken' : `${violations} violations`}.`,
  );
  for (const pool of pools) {
    const { desired, ready, current, stale, claimed, blocked } = pool;
    cli.print(
      `  ${pool.pool}: ${desired} wanted, ${ready} ready, ${current} current, ${stale} stale, ${claimed} claimed, ${blocked} blocked`,
    );
  }
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}

function withoutType({ type: _, ...fields }: TimelineEvent): object {
  return fields;
}
