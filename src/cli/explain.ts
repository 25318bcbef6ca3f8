import type { Command } from 'commander';
import type { InstanceView } from '../app/instance-view.ts';
import type { InstanceName } from '../app/names.ts';
import { explainInstance } from '../app/queries.ts';
import { type Cli, type ExitCode, printJson } from './cli.ts';
import { asInstance, type ConnectionOptions, connect, withConnection } from './options.ts';
import { columns, createPaint, type Paint } from './render.ts';

/** `everwarm explain`: why an instance is as it is, and what happens next. */
export function addExplain(program: Command, cli: Cli, end: (code: ExitCode) => void): void {
  const command = program
    .command('explain')
    .summary('why an instance is as it is and what happens next')
    .description(
      'Shows every fact that decides about one instance: its objects and their owners, where it differs from what would be made ' +
        'now, who holds it, what is waited for, and what happens next.',
    )
    .argument('<INSTANCE>', "POOL/SLOT, or the name of the instance's Deployment", asInstance);
  withConnection(command)
    .addHelpText('after', '\nExample:\n  everwarm explain java-17/3 --kubeconfig .everwarm/kubeconfig')
    .action(async (instance: InstanceName, options: ConnectionOptions) =>
      end(await explain(cli, instance, options)),
    );
}

async function explain(cli: Cli, instance: InstanceName, options: ConnectionOptions): Promise<ExitCode> {
  const cluster = await connect(cli, options);
  try {
    const view = await explainInstance(cluster, instance);
    if (options.json === true) printJson(cli, 'Instance', view);
    else for (const line of linesOf(view, createPaint(cli.hasColor))) cli.print(line);
    return 0;
  } finally {
    cluster.api.close();
  }
}

function linesOf(view: InstanceView, paint: Paint): readonly string[] {
  const { pool, slot, state, current, revision, since, nextCheckAt } = view;
  const known = current === undefined ? '' : current ? ', current' : ', stale';
  const parts = view.parts.map(({ kind, name, owners, labels, createdAt, deletingSince }) => [
    `${kind}/${name}`,
    `owned by ${owners.join(', ') || 'nobody'}`,
    Object.entries(labels)
      .map(([label, value]) => `${label.split('/').at(-1)}=${value}`)
      .join(' '),
    deletingSince === undefined ? (createdAt ?? '') : `being deleted since ${deletingSince}`,
  ]);
  return [
    `${paint(`${pool}/${slot}`, 'bold')}  ${state}${known}${since === undefined ? '' : ` since ${since}`}${revision === undefined ? '' : `, made for ${revision}`}`,
    ...section('Objects', columns(parts), paint),
    ...section('Differs from what would be made now in', view.drift, paint),
    ...section('Facts', view.facts, paint),
    ...section(
      'Next',
      [...view.next, ...(nextCheckAt === undefined ? [] : [`next look at ${nextCheckAt}`])],
      paint,
    ),
  ];
}

function section(title: string, lines: readonly string[], paint: Paint): readonly string[] {
  return lines.length === 0 ? [] : ['', paint(title, 'dim'), ...lines.map((line) => `  ${line}`)];
}
