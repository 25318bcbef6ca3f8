import { Command, CommanderError } from 'commander';
import { ownVersion } from '../app/version.ts';
import { TerminalError } from '../errors.ts';
import { addApiServer } from './api-server.ts';
import { type Cli, type ExitCode, UsageError } from './cli.ts';
import { addExplain } from './explain.ts';
import { addLeave } from './leave.ts';
import { addPause } from './pause.ts';
import { addPlan } from './plan.ts';
import { addReconcile } from './reconcile.ts';
import { addRefresh } from './refresh.ts';
import { addResume } from './resume.ts';
import { addSimulate } from './simulate.ts';
import { addStatus } from './status.ts';
import { addUp } from './up.ts';

/** Runs `everwarm ARGS` and answers with its exit code. Never rejects: what goes wrong is said on stderr. */
export async function runProgram(args: readonly string[], cli: Cli): Promise<ExitCode> {
  let code: ExitCode = 0;
  const end = (ended: ExitCode): void => {
    code = ended;
  };
  const program = programOf(cli, end);
  try {
    await program.parseAsync(args, { from: 'user' });
    return code;
  } catch (error) {
    return complain(cli, error);
  }
}

function programOf(cli: Cli, end: (code: ExitCode) => void): Command {
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
  const commands = [
    addUp,
    addApiServer,
    addStatus,
    addPlan,
    addExplain,
    addReconcile,
    addRefresh,
    addPause,
    addResume,
    addLeave,
    addSimulate,
  ];
  for (const add of commands) add(program, cli, end);
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
