import { isRecord } from './_mask.ts';

/** One place where two answers differ. */
export interface Difference {
  /** Such as `body.metadata.labels.app`. */
  readonly path: string;
  readonly real: unknown;
  readonly embedded: unknown;
}

/** All places where two values differ; a field that one side lacks is `undefined` there. */
export function differences(real: unknown, embedded: unknown, path = ''): readonly Difference[] {
  if (Object.is(real, embedded)) return [];
  if (Array.isArray(real) && Array.isArray(embedded)) {
    const length = Math.max(real.length, embedded.length);
    return Array.from({ length }, (_, index) => index).flatMap((index) =>
      differences(real[index], embedded[index], `${path}[${index}]`),
    );
  }
  if (isRecord(real) && isRecord(embedded)) {
    const keys = [...new Set([...Object.keys(real), ...Object.keys(embedded)])].sort();
    return keys.flatMap((key) => differences(real[key], embedded[key], path === '' ? key : `${path}.${key}`));
  }
  return [{ path, real, embedded }];
}
