import { isRecord, record, text } from '../json.ts';
import { unsupported } from '../schema/field-error.ts';
import { badRequest, bareError, invalidOptions } from '../status.ts';
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
  if (verb === 'delete' || verb === 'deletecollection') {
    return { ...listOptions(query), ...deleteOptions(query, body) };
  }
  const options: Record<string, unknown> = listOptions(query);
  const dryRun = query.getAll('dryRun');
  if (dryRun.length > 0) options['dryRun'] = checkDryRun(verb, dryRun);
  if (verb === 'patch' && query.get('force') !== null) {
    throw invalidOptions('PatchOptions', {
      field: 'force',
      reason: 'FieldValueForbidden',
      message: 'Forbidden: may not be specified for non-apply patch',
    });
  }
  return options as RequestOptions;
}

/** What selects and pages; a deletion of a collection has it, too. */
function listOptions(query: URLSearchParams): Record<string, unknown> {
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
  return options;
}

/** A parameter that is there says yes, unless it says no: Python's client writes `watch=True`. */
export function isSet(query: URLSearchParams, name: string): boolean {
  const value = query.get(name)?.toLowerCase();
  return value !== undefined && value !== 'false' && value !== '0';
}

export function parseInteger(value: string): number {
  if (/^[+-]?\d+$/.test(value)) return Number(value);
  throw badRequest(`strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`);
}

function checkDryRun(verb: StoreRequest['verb'], values: readonly unknown[]): true {
  if (values.length === 1 && values[0] === 'All') return true;
  throw invalidOptions(OPTION_KINDS[verb], unsupported('dryRun', values, ['All']));
}

/** DeleteOptions: those in the body, or when there is none those in the query. */
function deleteOptions(query: URLSearchParams, body: unknown): RequestOptions {
  const given = body === undefined ? optionsIn(query) : record(body);
  const policy = text(given['propagationPolicy']);
  const orphan = given['orphanDependents'];
  if (policy !== undefined && orphan !== undefined) {
    throw invalidOptions('DeleteOptions', {
      field: 'propagationPolicy',
      reason: 'FieldValueInvalid',
      message: `Invalid value: ${JSON.stringify(policy)}: orphanDependents and deletionPropagation cannot be both set`,
    });
  }
  const propagation = policy ?? olderPolicy(orphan);
  const grace = given['gracePeriodSeconds'];
  if (grace !== undefined && typeof grace !== 'number') {
    throw bareError(
      'json: cannot unmarshal string into Go struct field DeleteOptions.gracePeriodSeconds of type int64',
    );
  }
  const preconditions = isRecord(given['preconditions']) ? given['preconditions'] : undefined;
  const dryRun = Array.isArray(given['dryRun']) && given['dryRun'].length > 0 ? given['dryRun'] : undefined;
  return {
    ...(propagation === undefined ? {} : { propagation }),
    ...(grace === undefined ? {} : { gracePeriodSeconds: grace }),
    ...(preconditions === undefined ? {} : { preconditions }),
    ...(dryRun === undefined ? {} : { dryRun: checkDryRun('delete', dryRun) }),
  } as RequestOptions;
}

/** How clients said it before there were three ways. */
function olderPolicy(orphan: unknown): string | undefined {
  if (orphan === undefined) return undefined;
  return orphan === true ? 'Orphan' : 'Background';
}

function optionsIn(query: URLSearchParams): Readonly<Record<string, unknown>> {
  const policy = query.get('propagationPolicy');
  const grace = query.get('gracePeriodSeconds');
  const dryRun = query.getAll('dryRun');
  return {
    ...(policy === null ? {} : { propagationPolicy: policy }),
    ...(grace === null ? {} : { gracePeriodSeconds: parseInteger(grace) }),
    ...(dryRun.length === 0 ? {} : { dryRun }),
  };
}
