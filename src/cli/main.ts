import { systemClock, systemRandom } from '../clock.ts';
import { readConfig } from '../config.ts';
import type { Cli } from './cli.ts';
import { runProgram } from './program.ts';

/** The `everwarm` command. Does its work on import, as its launcher expects. */
process.exit(await runProgram(process.argv.slice(2), processCli()));

function processCli(): Cli {
  const config = readConfig();
  const ended = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    // The first one asks for an orderly end, the second is meant.
    process.once(signal, () => {
      ended.abort();
      process.once(signal, () => process.exit(130));
    });
  }
  // Whoever read our output has enough of it.
  process.stdout.on('error', () => process.exit(0));
  const isTerminal = process.stdout.isTTY === true;
  return {
    config,
    clock: systemClock,
    random: systemRandom,
    print: (line) => void process.stdout.write(`${line}\n`),
    complain: (line) => void process.stderr.write(`${line}\n`),
    hasColor: isTerminal && config.color,
    width: isTerminal ? process.stdout.columns : undefined,
    signal: ended.signal,
  };
}
