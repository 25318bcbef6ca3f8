import type { Command } from 'commander';
import type { PoolName } from '../app/names.ts';
import { type PlanView, planView } from '../app/plan-view.ts';
import { findPools } from '../app/queries.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { asPool, type ConnectionOptions, connect, withConnection } from './options.ts';
import { clip, createPaint, type Paint } from './render.ts';

interface PlanOptions extends ConnectionOptions {
  readonly exitCode?: boolean;
}

/** `everwarm plan`: the dry run, by the same code as the pass. */
export function addPlan(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('plan')
    .summary('what a pass would do now, in order and with its risk')
    .description(
      'Shows what the next pass over each pool would do, in order, each step with its reason and its risk, and what it would hold ' +
        'back and why. Nothing is written.',
    )
    .argument('[POOL]', '[[cluster/platform/]namespace/]name; all pools without it', asPool)
    .option('--exit-code', 'end with 1 when anything is planned');
  withConnection(command)
    .addHelpText(
      'after',
      '\nExample:\n  everwarm plan java-17 --kubeconfig ~/.kube/config -n ide --exit-code',
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
      const paint = createPaint(cli.hasColor);
      for (const line of views.flatMap((view) => linesOf(view, paint))) cli.print(clip(line, cli.width));
    }
    return options.exitCode === true && views.some((view) => !isNothing(view)) ? 1 : 0;
  } finally {
    cluster.api.close();
  }
}

function isNothing({ actions, writesStatus }: PlanView): boolean {
  return actions.length === 0 && !writesStatus;
}

function linesOf(view: PlanView, paint: Paint): readonly string[] {
  const { actions, held, waiting, problem } = view;
  const head = `${paint(view.pool, 'bold')}  mode ${view.mode}${view.carriedOut ? '' : ': only told, not done'}`;
  const steps = actions.flatMap(({ slot, what, why, risk }, at) => [
    `  ${at + 1}. ${slot === '-' ? '' : `slot ${slot}: `}${what}`,
    `     ${paint('because', 'dim')} ${why}`,
    `     ${paint('risk', 'dim')}    ${risk}`,
  ]);
  const rest = [
    ...held.map(({ slot, why }) => `  ${slotName(slot)} ${paint('held back', 'yellow')}: ${why}`),
    ...waiting.map(
      ({ slot, what, since }) =>
        `  ${slot === '*' ? 'the pool' : `slot ${slot}`} waits since ${since}: ${what}`,
    ),
    ...(view.nextCheckAt === undefined ? [] : [`  next look at ${view.nextCheckAt}`]),
  ];
  const nothing =
    actions.length === 0
      ? [`  ${view.writesStatus ? 'only the status would be written' : 'nothing to do'}`]
      : [];
  return [
    head,
    ...(problem === undefined ? [] : [`  ${paint(problem, 'red')}`]),
    ...nothing,
    ...steps,
    ...rest,
  ];
}

function slotName(slot: string): string {
  return slot === '*' ? 'the pool is' : `slot ${slot}`;
}
