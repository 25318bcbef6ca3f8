import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Template {
  readonly Resources: Readonly<
    Record<string, { readonly Type: string; readonly Properties: Readonly<Record<string, unknown>> }>
  >;
}

const DIRECTORY = '.everwarm/package-test';
export const TEMPLATE_FILE = join(DIRECTORY, 'cloudformation-template-update-stack.json');

/** Packages as a person does, and answers what was printed and the template. */
export function packageService(): { readonly printed: string; readonly template: Template } {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['infra/package.ts', '--out', DIRECTORY], {
    encoding: 'utf8',
    // No network is needed: any request ends at a closed port.
    env: {
      PATH: process.env['PATH'] ?? '',
      HTTPS_PROXY: 'http://127.0.0.1:1',
      HTTP_PROXY: 'http://127.0.0.1:1',
    },
  });
  if (status !== 0) throw new Error(`${stdout}\n${stderr}`);
  return { printed: stdout, template: JSON.parse(readFileSync(TEMPLATE_FILE, 'utf8')) as Template };
}

/** What a role lets its function do: `sqs:SendMessage Queue`, each once. */
export function permissionsOf(template: Template, role: string): readonly string[] {
  const policies = (template.Resources[role]?.Properties['Policies'] ?? []) as {
    PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] };
  }[];
  const statements = policies.flatMap(({ PolicyDocument }) => PolicyDocument.Statement);
  return statements
    .flatMap(({ Action, Resource }) => [Action].flat().map((action) => `${action} ${resourceName(Resource)}`))
    .sort();
}

/** What a function needs although it calls nothing itself: to be handed messages, to hand over failures, to log. */
export function impliedBy(template: Template, logicalId: string): readonly string[] {
  const of = (type: string) =>
    Object.values(template.Resources)
      .filter(
        (one) =>
          one.Type === type && JSON.stringify(one.Properties['FunctionName']).includes(`"${logicalId}"`),
      )
      .map(({ Properties }) => Properties);
  const received = of('AWS::Lambda::EventSourceMapping').flatMap(({ EventSourceArn }) =>
    ['sqs:ReceiveMessage', 'sqs:DeleteMessage', 'sqs:GetQueueAttributes'].map(
      (action) => `${action} ${resourceName(EventSourceArn)}`,
    ),
  );
  const failures = of('AWS::Lambda::EventInvokeConfig').flatMap(({ DestinationConfig }) => {
    const destination = (DestinationConfig as { OnFailure?: { Destination: unknown } } | undefined)
      ?.OnFailure;
    return destination === undefined ? [] : [`sqs:SendMessage ${resourceName(destination.Destination)}`];
  });
  return [
    ...received,
    ...failures,
    'logs:CreateLogStream logs',
    'logs:PutLogEvents logs',
    // Every queue and the bus are encrypted with one key.
    'kms:GenerateDataKey Key',
    'kms:Decrypt Key',
  ];
}

function resourceName(value: unknown): string {
  const text = JSON.stringify(value);
  const attribute = /"Fn::GetAtt":\["(\w+)"/.exec(text)?.[1];
  return attribute ?? (text.includes(':log-group:') ? 'logs' : text.includes(':secret:') ? 'secrets' : text);
}
