import { notImplemented, StatusError } from '../status.ts';

/** The form in which an answer is wanted. */
export type Form = 'json' | 'Table' | 'PartialObjectMetadata' | 'PartialObjectMetadataList';

const FORMS: readonly string[] = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList'];
const TYPES = 'application/json, application/yaml, application/vnd.kubernetes.protobuf';

/** What an answer will be about. */
interface Wanted {
  readonly custom: boolean;
  readonly list: boolean;
}

const ONE: Wanted = { custom: false, list: false };

/** Reads the Accept header; 406 when nothing in it can be had, 501 for what only this server lacks. */
export function formOf(accept: string | undefined, asked: Wanted = ONE): Form {
  if (accept === undefined || accept.trim() === '') return 'json';
  const clauses = accept.split(',').map(clause);
  for (const { type, as } of clauses) {
    if (type !== 'application/json' && type !== '*/*' && type !== 'application/*') continue;
    if (as === undefined) return 'json';
    if (FORMS.includes(as)) return as as Form;
  }
  if (clauses.some(({ as }) => as !== undefined)) {
    throw notAcceptable(`only the following media types are accepted: ${TYPES}`);
  }
  if (clauses.some(({ type }) => type === 'application/yaml')) throw notImplemented('answers in YAML');
  if (clauses.some(({ type }) => type.startsWith('application/vnd.kubernetes.protobuf'))) {
    throw notImplemented('answers in protobuf');
  }
  if (asked.custom) throw notAcceptable(`only the following media types are accepted: ${TYPES}`);
  const streams = 'application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch';
  const types = asked.list ? `${TYPES}, ${streams}` : TYPES;
  const message = `406: Not Acceptable\n\nAvailable representations: ${types}`;
  throw new StatusError(406, 'NotAcceptable', message, { details: {} });
}

export function notAcceptable(message: string): StatusError {
  return new StatusError(406, 'NotAcceptable', message);
}

function clause(text: string): { readonly type: string; readonly as: string | undefined } {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim());
  const as = parameters.find((parameter) => parameter.startsWith('as='))?.slice('as='.length);
  return { type: type.toLowerCase(), as };
}
