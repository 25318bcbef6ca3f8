import type { KubeObject } from '../kube/api.ts';
import type { Target } from './core.ts';
import { isRecord } from './json.ts';
import { invalidValue } from './schema/field-error.ts';
import type { FieldError } from './status.ts';

/** The paths of a custom kind's scale subresource are read at every write: what stands there must be counts and a text. */
export function scaleErrors({ version }: Target, object: KubeObject): readonly FieldError[] {
  const { scale } = version;
  if (scale === undefined) return [];
  return [...countErrors(object, scale.specReplicas), ...countErrors(object, scale.statusReplicas)];
}

function countErrors(object: KubeObject, path: string): readonly FieldError[] {
  const { value, problem } = read(object, path);
  if (problem !== undefined) {
    return [invalidValue(`.${path}`, 0, `.${path} accessor error: ${problem}`)];
  }
  if (value === undefined || Number(value) >= 0) return [];
  return [invalidValue(`.${path}`, value, 'should be a non-negative integer')];
}

interface Read {
  readonly value?: unknown;
  readonly problem?: string;
}

function read(object: KubeObject, path: string): Read {
  let value: unknown = object;
  for (const key of path.split('.')) {
    if (!isRecord(value)) return { problem: mistyped(value, 'map[string]interface{}') };
    value = value[key];
    if (value === undefined) return {};
  }
  return Number.isInteger(value) ? { value } : { problem: mistyped(value, 'int64') };
}

function mistyped(value: unknown, expected: string): string {
  return `${shown(value)} is of the type ${goType(value)}, expected ${expected}`;
}

function shown(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(shown).join(' ')}]`;
  return value === null ? '<nil>' : String(value);
}

function goType(value: unknown): string {
  if (Array.isArray(value)) return '[]interface {}';
  if (isRecord(value)) return 'map[string]interface {}';
  if (value === null) return '<nil>';
  if (typeof value === 'boolean') return 'bool';
  return typeof value === 'number' ? 'float64' : 'string';
}
