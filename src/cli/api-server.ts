import { type Command, Option } from 'commander';
import { startApiServer } from '../app/api-server.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { keepHeapSmall } from './heap.ts';
import { asPort, jsonOption } from './options.ts';
import { createPaint, shownPath } from './render.ts';

interface ApiServerOptions {
  readonly port: number;
  readonly kubeconfigOut?: string;
  readonly crds?: string;
  readonly json?: boolean;
}

/** `everwarm api-server`: the embedded cluster without Everwarm on it. */
export function addApiServer(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  program
    .command('api-server')
    .summary('the embedded Kubernetes API server alone')
    .description(
      'Runs the embedded Kubernetes API server with its garbage collector, Deployment controller and kubelet, all in memory. ' +
        'kubectl works against it; what it lacks it refuses by name (501).',
    )
    .addOption(new Option('--port <n>', 'port of its API, 0 for a free one').argParser(asPort).default(0))
    .option('--kubeconfig-out <file>', 'where to write its kubeconfig (default: .everwarm/kubeconfig)')
    .option('--crds <dir>', 'install the CustomResourceDefinitions in the *.json files of this directory')
    .addOption(jsonOption())
    .addHelpText('after', '\nExample:\n  everwarm api-server --port 7443 --crds ./crds')
    .action(async (options: ApiServerOptions) => end(await apiServer(cli, options)));
}

async function apiServer(cli: Cli, options: ApiServerOptions): Promise<ExitCode> {
  keepHeapSmall();
  const { port, kubeconfigOut, crds, json } = options;
  const server = await startApiServer(
    {
      port,
      ...(kubeconfigOut === undefined ? {} : { kubeconfigOut }),
      ...(crds === undefined ? {} : { crds }),
    },
    { clock: cli.clock, random: cli.random },
  );
  const { addresses } = server;
  if (json === true) printJson(cli, 'Ready', addresses);
  else {
    const file = shownPath(addresses.kubeconfig);
    cli.print(
      `${createPaint(cli.hasColor)('The API server is up', 'bold')} at ${addresses.server}. In another terminal:`,
    );
    cli.print('');
    cli.print(`  kubectl --kubeconfig ${file} get namespaces`);
  }
  await new Promise<void>((resolve) => {
    if (cli.signal.aborted) resolve();
    cli.signal.addEventListener('abort', () => resolve(), { once: true });
  });
  await server.stop();
  if (json === true) printJson(cli, 'Stopped', {});
  return 0;
}
