import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** What is wrong with a value that did not parse, so that it goes on from the field's name: `spec.minInstances is negative`. */
export function wrongIn(issue: Issue | undefined): string {
  // A schema that says itself what is wrong is right.
  if (issue === undefined || !/^(Invalid|Too|Unrecognized)\b/.test(issue.message))
    return issue?.message ?? 'is wrong';
  switch (issue.code) {
    case 'too_small':
      return tooSmall(issue);
    case 'too_big':
      return `is greater than ${issue.maximum}`;
    case 'invalid_type':
      return `is not ${KINDS[issue.expected] ?? `a ${issue.expected}`}`;
    case 'invalid_value':
      return `is not ${issue.values.length > 1 ? 'one of ' : ''}${issue.values.map(String).join(', ')}`;
    case 'unrecognized_keys':
      return `has ${issue.keys.join(', ')}, which is not known`;
    case 'invalid_union':
      return 'is of the wrong kind';
    default:
      return 'is not written as it must be';
  }
}

function tooSmall({ origin, minimum }: Extract<Issue, { readonly code: 'too_small' }>): string {
  if (origin !== 'number' && origin !== 'int') return minimum === 1 ? 'is empty' : 'is too short';
  return minimum === 0 ? 'is negative' : `is less than ${minimum}`;
}

const KINDS: Readonly<Record<string, string>> = {
  int: 'a whole number',
  array: 'a list',
  object: 'an object',
  string: 'text',
  record: 'an object',
  boolean: 'true or false',
};
