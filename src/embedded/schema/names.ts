import type { FieldError } from '../status.ts';
import { invalidValue } from './field-error.ts';

const LABEL = '[a-z0-9]([-a-z0-9]*[a-z0-9])?';
const SUBDOMAIN = `${LABEL}(\\.${LABEL})*`;
const SUBDOMAIN_PATTERN = new RegExp(`^${SUBDOMAIN}$`);
const LABEL_PATTERN = new RegExp(`^${LABEL}$`);
const SERVICE_PATTERN = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const VALUE_PATTERN = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const QUALIFIED_PATTERN = /^([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;

const SUBDOMAIN_TEXT =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const LABEL_TEXT =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const SERVICE_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
const VALUE_TEXT =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const QUALIFIED_TEXT =
  "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";

/** Which rule the names of a kind follow. */
export type NameRule = 'subdomain' | 'label' | 'service' | 'segment';

/** What is wrong with `name`, in the server's words; empty when it is fine. */
export function nameProblems(rule: NameRule, name: string): readonly string[] {
  switch (rule) {
    case 'subdomain':
      return problems(name, 253, SUBDOMAIN_PATTERN, SUBDOMAIN_TEXT);
    case 'label':
      return problems(name, 63, LABEL_PATTERN, LABEL_TEXT);
    case 'segment':
      // Whatever can stand in a path.
      return ['/', '%'].filter((sign) => name.includes(sign)).map((sign) => `may not contain '${sign}'`);
    case 'service':
      return problems(name, 63, SERVICE_PATTERN, SERVICE_TEXT);
  }
}

function problems(name: string, lengthMax: number, pattern: RegExp, text: string): readonly string[] {
  const long = name.length > lengthMax ? [`must be no more than ${lengthMax} characters`] : [];
  return pattern.test(name) ? long : [...long, text];
}

/** What is wrong with the value of a label. */
export function valueProblems(value: string): readonly string[] {
  return problems(value, 63, VALUE_PATTERN, VALUE_TEXT);
}

/** The first thing that is wrong with the key of a label. */
export function nameProblem(key: string): string | undefined {
  return qualifiedNameProblems(key)[0];
}

/** Checks the keys and values of `metadata.labels`. */
export function labelErrors(field: string, labels: Readonly<Record<string, unknown>>): readonly FieldError[] {
  return Object.entries(labels).flatMap(([key, value]) => [
    ...qualifiedNameProblems(key).map((problem) => invalidValue(field, key, problem)),
    ...valueProblems(String(value)).map((text) => invalidValue(field, value, text)),
  ]);
}

/** Checks the keys of `metadata.annotations`; unlike a label's, their prefix may have capitals. */
export function annotationErrors(
  field: string,
  annotations: Readonly<Record<string, unknown>>,
): readonly FieldError[] {
  return Object.keys(annotations).flatMap((key) =>
    qualifiedNameProblems(key.toLowerCase()).map((problem) => invalidValue(field, key, problem)),
  );
}

/** What is wrong with a name such as `example.com/part`, in the server's words. */
export function qualifiedNameProblems(key: string): readonly string[] {
  const parts = key.split('/');
  const [first = '', second] = parts;
  if (parts.length > 2) {
    return [
      `a qualified name must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]') with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')`,
    ];
  }
  const name = second ?? first;
  const prefix = second === undefined ? [] : prefixProblems(first);
  if (name === '') return [...prefix, 'name part must be non-empty', QUALIFIED_TEXT];
  const long = name.length > 63 ? ['name part must be no more than 63 characters'] : [];
  return [...prefix, ...long, ...(QUALIFIED_PATTERN.test(name) ? [] : [QUALIFIED_TEXT])];
}

function prefixProblems(prefix: string): readonly string[] {
  if (prefix === '') return ['prefix part must be non-empty'];
  return problems(prefix, 253, SUBDOMAIN_PATTERN, SUBDOMAIN_TEXT).map((text) => `prefix part ${text}`);
}
