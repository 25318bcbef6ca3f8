import type { AwsCall } from './_aws.ts';
import type { FunctionName } from './_cloud.ts';
import { impliedBy, permissionsOf, type Template } from './_template.ts';

/** What the account's things are called in the template; what is none of them is a secret. */
const LOGICAL: Readonly<Record<string, string>> = {
  'everwarm-dev.fifo': 'Queue',
  'everwarm-dev-later': 'LaterQueue',
  'everwarm-dev': 'Bus',
};

/** What a function's role lets it do, and what it was seen to do or needs without a call of its own: both sorted, each once. */
export function roleOf(
  template: Template,
  name: FunctionName,
  calls: readonly AwsCall[],
): { readonly allowed: readonly string[]; readonly needed: readonly string[] } {
  const seen = calls
    .filter(({ caller }) => caller === name)
    .map(({ action, resource }) => `${action} ${LOGICAL[resource] ?? 'secrets'}`);
  const title = `${name[0]?.toUpperCase()}${name.slice(1)}`;
  const needed = new Set([...seen, ...impliedBy(template, `${title}LambdaFunction`)]);
  return { allowed: permissionsOf(template, `${title}Role`), needed: [...needed].sort() };
}
