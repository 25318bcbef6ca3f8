import type { Command } from 'commander';
import type { PoolName } from '../app/names.ts';
import { type PlanView, planView } from '../app/plan-view.ts';
import { findPools } from '../app/queries.ts';
import { RISKS } from '../app/words.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { asPool, type ConnectionOptions, connect, withConnection } from './options.ts';
import { planScreen } from './plan-screen.ts';
import { createPaint } from './render.ts';

interface PlanOptions extends ConnectionOptions {
  readonly exitCode?: boolean;
}

const RISK_LINES = Object.values(RISKS)
  .map(([word, meaning]) => `  ${word.padEnd(12)}${meaning}`)
  .join('\n');

/** `everwarm plan`: the dry run, by the same code as the pass. */
export function addPlan(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('plan')
    .summary('what a pass would do now, in order and with its risk')
    .description(
      'Shows what the next pass over each pool would do, in order, each step with its reason and its risk, and what it would hold ' +
        'back and why; of a pool in mode observe what guard would do. Nothing is written; read rights suffice. Ends with 1 when ' +
        'nothing can be planned.',
    )
    .argument('[POOL]', '[[cluster/platform/]namespace/]name; all pools without it', asPool)
    .option('--exit-code', 'end with 1 when anything is planned');
  withConnection(command)
    .addHelpText(
      'after',
      `\nRisks:\n${RISK_LINES}\n\nExample:\n  everwarm plan java-17 --kubeconfig ~/.kube/config -n ide --exit-code`,
    )
    .action(async (pool: PoolName | undefined, options: PlanOptions) => end(await plan(cli, pool, options)));
}

async function plan(cli: Cli, pool: PoolName | undefined, options: PlanOptions): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  try {
    const views = (await findPools(cluster, pool)).map(planView);
    if (options.json === true) for (const view of views) printJson(cli, 'Plan', view);
    else {
      if (views.length === 0) cli.print(`no pools in namespace ${cluster.namespaces.join(', ')}`);
      const drawing = { paint: createPaint(cli.hasColor), width: cli.width };
      for (const line of views.flatMap((view) => planScreen(view, drawing))) cli.print(line);
    }
    if (views.some(({ problem }) => problem !== undefined)) return 1;
    return options.exitCode === true && views.some((view) => !isNothing(view)) ? 1 : 0;
  } finally {
    cluster.api.close();
  }
}

function isNothing({ actions, writesStatus }: PlanView): boolean {
  return actions.length === 0 && !writesStatus;
}
