import type { FieldError } from '../status.ts';

/** The constructors of the field errors that Kubernetes' validation reports, with its own words. */

export function required(field: string, detail?: string): FieldError {
  const message = detail === undefined ? 'Required value' : `Required value: ${detail}`;
  return { field, reason: 'FieldValueRequired', message };
}

export function invalidValue(field: string, value: unknown, detail: string): FieldError {
  return {
    field,
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${JSON.stringify(value)}: ${detail}`,
  };
}

/** A wrong type: the value shown is the name of the type that came. */
export function typeInvalid(field: string, shown: unknown, detail: string): FieldError {
  return {
    field,
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${JSON.stringify(shown)}: ${detail}`,
  };
}

export function unsupported(field: string, value: unknown, values: readonly unknown[]): FieldError {
  const shown = values.map((choice) => JSON.stringify(choice)).join(', ');
  const message = `Unsupported value: ${JSON.stringify(value)}: supported values: ${shown}`;
  return { field, reason: 'FieldValueNotSupported', message };
}

export function duplicate(field: string, value: unknown): FieldError {
  return { field, reason: 'FieldValueDuplicate', message: `Duplicate value: ${JSON.stringify(value)}` };
}

export function fieldForbidden(field: string, detail: string): FieldError {
  return { field, reason: 'FieldValueForbidden', message: `Forbidden: ${detail}` };
}

export function tooLong(field: string, bytes: number): FieldError {
  return { field, reason: 'FieldValueTooLong', message: `Too long: may not be more than ${bytes} bytes` };
}

export function immutable(field: string, value: unknown): FieldError {
  return invalidValue(field, value, 'field is immutable');
}
