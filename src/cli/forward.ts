import type { Command } from 'commander';
import { type ClusterChoice, openCluster } from '../app/cluster.ts';
import { startForwarding } from '../app/forward.ts';
import { readForwardConfig } from '../app/forward-config.ts';
import { createLog } from '../telemetry/log.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { keepHeapSmall } from './heap.ts';
import { jsonOption } from './options.ts';

interface ForwardOptions {
  readonly config?: string;
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly json?: boolean;
}

const EXAMPLES = `
The file (YAML or JSON):
  cluster: prod-eu                     names the cluster in notices
  namespaces: [theia-cloud]            where its pools are
  webhook:
    url: https://example.com           POSTs go to <url>/v1/notices/<cluster>/<key>
    key: k1                            the id of the signing key
    secretFile: /etc/everwarm/k1       holds its secret, whsec_...
  health: {port: 8080}                 /livez, /readyz, /metrics

EVERWARM_CLUSTER, EVERWARM_NAMESPACES (with commas), EVERWARM_WEBHOOK_URL, EVERWARM_WEBHOOK_KEY and
EVERWARM_WEBHOOK_SECRET stand for those fields and come before them.

Examples:
  everwarm forward --config /etc/everwarm/forward.yaml
  everwarm forward --config forward.yaml --kubeconfig ~/.kube/config      from outside of the cluster`;

/** `everwarm forward`: the one part that runs in the cluster when everything else runs elsewhere. */
export function addForward(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  program
    .command('forward')
    .summary('watch a cluster and tell the cloud functions what changed')
    .description(
      'Watches the cluster it runs in and posts a signed notice for each pool that something happened to, and a sign of life each ' +
        'minute. It decides nothing and needs read rights only. Two of it do no harm. SIGTERM ends it when what it knows is sent.',
    )
    .option('--config <file>', 'what to watch and where to tell (YAML or JSON)')
    .option('--kubeconfig <file>', 'watch the cluster of this kubeconfig instead of the one it runs in')
    .option('--context <name>', 'context in the kubeconfig (default: its current one)')
    .addOption(jsonOption())
    .addHelpText('after', EXAMPLES)
    .action(async (options: ForwardOptions, command: Command) => {
      if (options.context !== undefined && options.kubeconfig === undefined) {
        command.error('error: --context is for a kubeconfig: add --kubeconfig FILE');
      }
      end(await forward(cli, options));
    });
}

async function forward(cli: Cli, options: ForwardOptions): Promise<ExitCode> {
  keepHeapSmall();
  const { clock, random, signal, complain } = cli;
  const json = options.json === true;
  const config = readForwardConfig(options.config, cli.config.forward);
  const cluster = await openCluster(choiceOf(cli, options, config.namespaces), cli);
  const log = createLog({
    clock,
    format: json ? 'json' : 'human',
    write: (line) => complain(line.trimEnd()),
  });
  const { api, platforms } = cluster;
  const forwarding = await startForwarding(config, { api, platforms, clock, random, log });
  const ended = aborted(signal);
  await Promise.race([forwarding.ready, ended]);
  if (!signal.aborted) sayReady(cli, json, { health: forwarding.health, ...about(config) });
  await ended;
  const how = await forwarding.stop();
  if (json) printJson(cli, 'Stopped', { drained: how === 'drained' });
  else
    cli.print(
      how === 'drained' ? 'Stopped: everything known was sent.' : 'Stopped before everything was sent.',
    );
  return 0;
}

function choiceOf(cli: Cli, options: ForwardOptions, namespaces: readonly string[]): ClusterChoice {
  const { kubeconfig, context } = options;
  return {
    namespaces,
    ...(kubeconfig === undefined ? { inCluster: cli.config.service } : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  };
}

interface About {
  readonly cluster: string;
  readonly namespaces: readonly string[];
  readonly webhook: string;
}

/** The door's path ends with the key's id, which is nobody's business. */
function about({ cluster, namespaces, webhook }: ReturnType<typeof readForwardConfig>): About {
  return { cluster, namespaces, webhook: new URL(webhook.url).origin };
}

function sayReady(cli: Cli, json: boolean, ready: About & { readonly health: string }): void {
  if (json) {
    printJson(cli, 'Ready', ready);
    return;
  }
  const { cluster, namespaces, webhook, health } = ready;
  cli.print(`Watching ${namespaces.join(', ')} of ${cluster}, telling ${webhook}; health at ${health}`);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
