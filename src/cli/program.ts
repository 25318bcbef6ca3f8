import { Command, CommanderError } from 'commander';
import { ownVersion } from '../app/version.ts';
import { TerminalError } from '../errors.ts';
import { type Cli, type ExitCode, UsageError } from './cli.ts';

type Add = (program: Command, cli: Cli, end: (code: ExitCode) => void) => void;

/** In the order of the help. Each is loaded only when it is meant: a forwarder's pod has no use for a whole cluster in memory. */
const COMMANDS: Readonly<Record<string, () => Promise<Add>>> = {
  up: async () => (await import('./up.ts')).addUp,
  'api-server': async () => (await import('./api-server.ts')).addApiServer,
  status: async () => (await import('./status.ts')).addStatus,
  plan: async () => (await import('./plan.ts')).addPlan,
  explain: async () => (await import('./explain.ts')).addExplain,
  reconcile: async () => (await import('./reconcile.ts')).addReconcile,
  refresh: async () => (await import('./refresh.ts')).addRefresh,
  release: async () => (await import('./release.ts')).addRelease,
  pause: async () => (await import('./pause.ts')).addPause,
  resume: async () => (await import('./resume.ts')).addResume,
  leave: async () => (await import('./leave.ts')).addLeave,
  forward: async () => (await import('./forward.ts')).addForward,
  simulate: async () => (await import('./simulate.ts')).addSimulate,
};

/** Runs `everwarm ARGS` and answers with its exit code. Never rejects: what goes wrong is said on stderr. */
export async function runProgram(args: readonly string[], cli: Cli): Promise<ExitCode> {
  let code: ExitCode = 0;
  const end = (ended: ExitCode): void => {
    code = ended;
  };
  try {
    const program = await programOf(args, cli, end);
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return complain(cli, error);
  }
}

/** The command that is named, or all of them: for the help, and to find what was meant. */
function commandsFor([name = '']: readonly string[]): Promise<readonly Add[]> {
  const named = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  return Promise.all((named === undefined ? Object.values(COMMANDS) : [named]).map((load) => load()));
}

async function programOf(args: readonly string[], cli: Cli, end: (code: ExitCode) => void): Promise<Command> {
  const program = new Command('everwarm')
    .description('Keeps pools of pre-warmed web-IDE instances converged on what their definition says now.')
    .version(ownVersion(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print this help')
    .helpCommand(false)
    .showSuggestionAfterError(true)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => cli.print(text.trimEnd()),
      // One line: what is wrong and how to mend it.
      outputError: (text) => cli.complain(`everwarm: ${mend(text)}`),
    })
    .addHelpText(
      'after',
      '\nExamples:\n  everwarm up\n  everwarm status --kubeconfig .everwarm/kubeconfig\n  everwarm up --help',
    );
  for (const add of await commandsFor(args)) add(program, cli, end);
  return program;
}

/** Commander's complaint on one line, with where to look when it does not say how to mend it. */
function mend(text: string): string {
  const line = text
    .trim()
    .replace(/^error: /, '')
    .replace(/\.$/, '')
    .replaceAll(/\s*\n\s*/g, ' ')
    // What we say about a value is a sentence of its own; what Commander says about it is not.
    .replace(/^command-argument value .*? is invalid for argument '[^']*'\. /, '')
    .replace(/^option '(?:-\w, )?(--[\w-]+)[^']*' argument (.*) is invalid\. /, '$1 $2: ')
    .replace(/: Allowed choices are /, ': write one of ');
  return /^(unknown|missing|too many)/.test(line) && !line.includes('Did you mean')
    ? `${line}: --help shows what there is`
    : line;
}

function complain(cli: Cli, error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  if (error instanceof UsageError) {
    cli.complain(`everwarm: ${error.message}`);
    return 2;
  }
  if (error instanceof TerminalError) {
    cli.complain(`everwarm: ${error.message}`);
    return 1;
  }
  // A defect: whoever mends it needs to know where.
  cli.complain(error instanceof Error ? (error.stack ?? error.message) : String(error));
  return 1;
}
