import { isRecord, record, text } from '../json.ts';
import { unsupported } from '../schema/field-error.ts';
import { badRequest, invalidOptions } from '../status.ts';
import type { RequestOptions, StoreRequest } from '../types.ts';

const OPTION_KINDS: Readonly<Record<StoreRequest['verb'], string>> = {
  get: 'GetOptions',
  list: 'ListOptions',
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  delete: 'DeleteOptions',
  deletecollection: 'DeleteOptions',
};

/** The query parameters of a request, and for a delete the DeleteOptions in its body. */
export function readOptions(
  verb: StoreRequest['verb'],
  query: URLSearchParams,
  body?: unknown,
): RequestOptions {
  const options: Record<string, unknown> = {};
  for (const name of [
    'labelSelector',
    'fieldSelector',
    'continue',
    'resourceVersion',
    'resourceVersionMatch',
    'fieldValidation',
  ]) {
    const value = query.get(name);
    if (value !== null && value !== '') options[name] = value;
  }
  const limit = query.get('limit');
  if (limit !== null && limit !== '') options['limit'] = parseInteger(limit);
  const dryRun = query.getAll('dryRun');
  if (dryRun.length > 0) options['dryRun'] = checkDryRun(verb, dryRun);
  if (verb === 'patch' && query.get('force') !== null) {
    throw invalidOptions('PatchOptions', {
      field: 'force',
      reason: 'FieldValueForbidden',
      message: 'Forbidden: may not be specified for non-apply patch',
    });
  }
  if (verb === 'delete' || verb === 'deletecollection') Object.assign(options, deleteOptions(query, body));
  return options as RequestOptions;
}

export function parseInteger(value: string): number {
  if (/^[+-]?\d+$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
}

function checkDryRun(verb: StoreRequest['verb'], values: readonly unknown[]): true {
  if (values.length === 1 && values[0] === 'All') return true;
  throw invalidOptions(OPTION_KINDS[verb], unsupported('dryRun', values, ['All']));
}

function deleteOptions(query: URLSearchParams, body: unknown): RequestOptions {
  const given = record(body);
  const policy = text(given['propagationPolicy']) ?? query.get('propagationPolicy') ?? undefined;
  const orphan = given['orphanDependents'];
  if (policy !== undefined && orphan !== undefined) {
    throw invalidOptions('DeleteOptions', {
      field: 'propagationPolicy',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  }
  const older = orphan === true ? 'Orphan' : orphan === false ? 'Background' : undefined;
  const propagation = policy ?? older;
  const grace = given['gracePeriodSeconds'] ?? query.get('gracePeriodSeconds') ?? undefined;
  const preconditions = isRecord(given['preconditions']) ? given['preconditions'] : undefined;
  const dryRun = Array.isArray(given['dryRun']) && given['dryRun'].length > 0 ? given['dryRun'] : undefined;
  const options: Record<string, unknown> = {
    ...(propagation === undefined ? {} : { propagation }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: parseInteger(String(grace)) }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === undefined ? {} : { dryRun: checkDryRun('delete', dryRun) }),
  };
  return options as RequestOptions;
}
