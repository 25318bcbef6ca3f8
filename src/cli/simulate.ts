import { type Command, Option } from 'commander';
import type { SimulationLine } from '../app/simulation.ts';
import { type Cli, type ExitCode, printJson, UsageError } from './cli.ts';
import { asCount, jsonOption } from './options.ts';
import { createPaint, type Paint } from './render.ts';

interface SimulateOptions {
  readonly scenario?: string;
  readonly seed?: number;
  readonly seeds?: number;
  readonly steps?: number;
  readonly json?: boolean;
}

const EXAMPLES = `
Examples:
  everwarm simulate                        2,000 random schedules
  everwarm simulate --seed 42              one of them, again
  everwarm simulate --seeds 100 --json     a hundred, for a script`;

/** `everwarm simulate`: the real planner and executor in a world that is out to break them. */
export function addSimulate(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  program
    .command('simulate')
    .summary('run the simulator: random schedules, or a named story')
    .description(
      'Runs the real passes beside a stand-in of the platform operator, with users, releases, crashes and lost answers in an ' +
        'order drawn from a seed, and checks every write. The same seed is the same run. A violation comes with the shortest trace ' +
        'that was found and the command that replays it.',
    )
    .option('--scenario <name>', 'play this story instead of random schedules')
    .addOption(new Option('--seed <n>', 'the first seed; alone, the only one').argParser(asCount))
    .addOption(
      new Option('--seeds <n>', 'how many seeds (default: 2000, or 1 beside --seed)').argParser(asCount),
    )
    .addOption(new Option('--steps <n>', 'random steps of each schedule').argParser(asCount))
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: SimulateOptions) => end(await run(cli, options)));
}

async function run(cli: Cli, { json, ...options }: SimulateOptions): Promise<ExitCode> {
  // Half the simulator's code is nobody else's: the other commands start without it.
  const { runSimulation, scenarioNames } = await import('../app/simulation.ts');
  const { scenario } = options;
  if (scenario !== undefined && !scenarioNames().includes(scenario)) {
    throw new UsageError(`there is no scenario ${scenario}: there are ${scenarioNames().join(', ')}`);
  }
  let violations = 0;
  for await (const line of runSimulation(options)) {
    const { type, ...fields } = line;
    if (line.type === 'Simulated') violations = line.violations;
    if (json === true) printJson(cli, type, fields);
    else printLine(cli, line);
    if (cli.signal.aborted) break;
  }
  return violations > 0 ? 1 : 0;
}

function printLine(cli: Cli, line: SimulationLine): void {
  const paint = createPaint(cli.hasColor);
  switch (line.type) {
    case 'Schedule':
      cli.print(paint(`${counted(line.schedules, 'schedule')}, ${counted(line.steps, 'step')}`, 'dim'));
      break;
    case 'Violation':
      cli.print(`${paint(line.name, 'red')}: ${line.message}`);
      for (const step of line.trace) cli.print(`  ${step}`);
      cli.print(`replay: ${line.replay}`);
      break;
    case 'Simulated':
      if (line.scenario !== undefined) cli.print(toldOf(line, paint));
      cli.print(
        `${counted(line.schedules, 'schedule')}, ${counted(line.steps, 'step')}, ${counted(line.violations, 'violation')}`,
      );
      break;
  }
}

/** The story, and what Everwarm did in it. */
function toldOf({ scenario = '', title = '', did = {} }: Told, paint: Paint): string {
  const deeds = Object.entries(did).map(([kind, count]) => `${kind} ${count}`);
  return `${paint(scenario, 'bold')}: ${title}\nEverwarm did: ${deeds.join(', ') || 'nothing'}`;
}

type Told = Extract<SimulationLine, { type: 'Simulated' }>;

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;
