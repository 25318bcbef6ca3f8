import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ClusterChoice, type OpenCluster, openCluster } from '../app/cluster.ts';
import { type InstanceName, type PoolName, parseInstanceName, parsePoolName } from '../app/names.ts';
import { TerminalError } from '../errors.ts';
import type { Cli } from './cli.ts';
import { parseDuration } from './durations.ts';

/** Which cluster a command talks to. */
export interface ConnectionOptions {
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly inCluster?: boolean;
  readonly namespace?: readonly string[];
  readonly json?: boolean;
}

/** A command that asks too long is worse than one that says so. */
const DEADLINE_MS = 10_000;

/** Adds the flags by which a command finds its cluster, and `--json`. */
export function withConnection(command: Command): Command {
  return command
    .option('--kubeconfig <file>', 'kubeconfig of the cluster (default: $KUBECONFIG, or ~/.kube/config)')
    .option('--context <name>', 'context in the kubeconfig (default: its current one)')
    .addOption(
      new Option('--in-cluster', 'the cluster in which this pod runs').conflicts(['kubeconfig', 'context']),
    )
    .addOption(namespaceOption())
    .addOption(jsonOption());
}

export function namespaceOption(): Option {
  return new Option(
    '-n, --namespace <name>',
    'namespace of the pools; give it again for more (default: that of the context)',
  ).argParser((text: string, before: readonly string[] | undefined) => [
    ...(before ?? []),
    asNamespace(text),
  ]);
}

export function jsonOption(): Option {
  return new Option('--json', 'one JSON object a line (docs/json-lines.md)');
}

/** Opens the cluster that the flags and the configuration name. */
export async function connect(cli: Cli, options: ConnectionOptions): Promise<OpenCluster> {
  const choice: ClusterChoice = {
    ...(options.inCluster === true
      ? { inCluster: cli.config.service }
      : { kubeconfig: options.kubeconfig ?? cli.config.kubeconfig }),
    namespaces: options.namespace ?? [],
    mode: 'asFound',
    ...(options.context === undefined ? {} : { context: options.context }),
    ...(cli.config.settings === undefined ? {} : { settings: cli.config.settings }),
  };
  const opened = openCluster(choice, { clock: cli.clock, random: cli.random, deadlineMs: DEADLINE_MS });
  if (options.kubeconfig !== undefined) return await opened;
  return await opened.catch((error: unknown) => {
    if (!(error instanceof TerminalError) || !error.message.endsWith('no such file')) throw error;
    throw new TerminalError(`${error.message}: name one with --kubeconfig FILE`, { cause: error });
  });
}

export function asDurationMs(text: string): number {
  const parsed = parseDuration(text);
  if ('problem' in parsed) throw new InvalidArgumentError(parsed.problem);
  return parsed.ms;
}

export function asPort(text: string): number {
  const port = Number(text);
  if (/^\d+$/.test(text) && port <= 65_535) return port;
  throw new InvalidArgumentError('write a port from 1 to 65535, or 0 for a free one');
}

export function asFraction(text: string): number {
  const fraction = Number(text);
  if (/^\d*\.?\d+$/.test(text) && fraction <= 1) return fraction;
  throw new InvalidArgumentError('write a fraction from 0 to 1, as in 0.5');
}

export function asCount(text: string): number {
  const count = Number(text);
  if (/^\d+$/.test(text) && Number.isSafeInteger(count)) return count;
  throw new InvalidArgumentError('write a whole number, as in 7');
}

export function asPool(text: string): PoolName {
  return named(parsePoolName(text));
}

export function asInstance(text: string): InstanceName {
  return named(parseInstanceName(text));
}

function asNamespace(text: string): string {
  if (/^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/.test(text) && text.length <= 63) return text;
  throw new InvalidArgumentError(`${JSON.stringify(text)} is no namespace`);
}

function named<T>(parsed: { readonly name: T } | { readonly problem: string }): T {
  if ('problem' in parsed) throw new InvalidArgumentError(parsed.problem);
  return parsed.name;
}
