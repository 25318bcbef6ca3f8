import type { KubeObject } from '../../kube/api.ts';
import type { Target } from '../core.ts';
import { list, record } from '../json.ts';
import { bareError } from '../status.ts';
import type { StoreResponse } from '../types.ts';
import { type Form, notAcceptable } from './accept.ts';
import { listJson, objectJson } from './serialise.ts';
import { type Included, partial, tableOf } from './table.ts';

/** An answer, ready to be sent. */
export interface Answer {
  readonly code: number;
  readonly contentType: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export const NOT_FOUND: Answer = {
  code: 404,
  contentType: 'text/plain; charset=utf-8',
  body: '404 page not found\n',
  headers: { 'X-Content-Type-Options': 'nosniff' },
};

export function jsonAnswer(code: number, body: unknown): Answer {
  return { code, contentType: 'application/json', body: `${JSON.stringify(body)}\n` };
}

/** What the store said, in the form that was asked for. */
export function answerOf(
  target: Target | undefined,
  response: StoreResponse,
  form: Form,
  included: Included,
  now: number,
): Answer {
  const { code, body, warnings = [] } = response;
  const headers = warnings.length === 0 ? {} : { headers: { Warning: warnings.map(warningHeader) } };
  if (code >= 300 || body.kind === 'Status' || target === undefined)
    return { ...jsonAnswer(code, body), ...headers };
  const text = shaped(target, body, form, included, now);
  return { code, contentType: 'application/json', body: text, ...headers };
}

function warningHeader(text: string): string {
  return `299 - "${text.replace(/["\\]/g, '\\$&')}"`;
}

/** The text of an answer, its line's end included. */
function shaped(target: Target, body: KubeObject, form: Form, included: Included, now: number): string {
  const { kind, request } = target;
  const { custom } = kind.traits;
  const isList =
    body.kind === kind.listKind && (request.verb === 'list' || request.verb === 'deletecollection');
  if (!isList) {
    if (form === 'PartialObjectMetadataList') {
      if (custom) throw bareError('content is not a list');
      throw notAcceptable(
        `you requested PartialObjectMetadataList, but the requested object is not a list (${goType(target, '')})`,
      );
    }
    return `${objectText(target, body, form, included, now)}\n`;
  }
  const items = list(body['items']) as readonly KubeObject[];
  switch (form) {
    case 'json':
      return listJson(body, items, custom);
    case 'Table':
      return `${JSON.stringify(tableOf(target, items, withoutEmpty(body.metadata), included, now))}\n`;
    case 'PartialObjectMetadata':
      throw notAcceptable(
        `you requested PartialObjectMetadata, but the requested object is a list (${goType(target, 'List')})`,
      );
    case 'PartialObjectMetadataList': {
      const metadata = withoutEmpty(body.metadata);
      // Go writes a list of which nothing was made as null.
      const shown = items.length === 0 ? null : items.map(partial);
      return `${JSON.stringify({ kind: form, apiVersion: 'meta.k8s.io/v1', metadata, items: shown })}\n`;
    }
  }
}

/** The lists of custom kinds always carry a token, even an empty one; other forms of them do not. */
function withoutEmpty(metadata: unknown): unknown {
  const { continue: token, ...rest } = record(metadata);
  return token === undefined || token === '' ? rest : { ...rest, continue: token };
}

/** One object in the form that was asked for: an answer of its own, or inside a watch event. */
export function objectText(
  target: Target,
  object: KubeObject,
  form: Form,
  included: Included,
  now: number,
  titled = true,
): string {
  if (form === 'PartialObjectMetadata') return JSON.stringify(partial(object));
  if (form !== 'Table' || object.kind !== target.kind.resource.kind) {
    return objectJson(object, target.kind.traits.custom);
  }
  const metadata = { resourceVersion: object.metadata.resourceVersion };
  return JSON.stringify(tableOf(target, [object], metadata, included, now, titled));
}

function goType({ kind }: Target, suffix: string): string {
  if (kind.traits.custom) return `*unstructured.Unstructured${suffix}`;
  const [group = ''] = kind.resource.group.split('.');
  return `*${group === '' ? 'core' : group}.${kind.resource.kind}${suffix}`;
}
