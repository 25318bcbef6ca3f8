import type { KubeObject } from '../kube/api.ts';
import type { Core, Target } from './core.ts';
import { inVersion } from './form.ts';
import { isRecord } from './json.ts';
import { apiVersionOf, kindKey } from './kind.ts';
import { fieldForbidden, unsupported } from './schema/field-error.ts';
import { fieldSelector, labelSelector, type Selector } from './selectors.ts';
import { badRequest, bareError, invalidOptions, notFound, StatusError } from './status.ts';
import type { StoreResponse } from './types.ts';

const SNAPSHOTS_MAX = 32;

/** GET of one object. */
export function get(core: Core, target: Target): StoreResponse {
  const { kind, resource, request } = target;
  const { resourceVersion } = request.options ?? {};
  if (resourceVersion !== undefined && !/^\d*$/.test(resourceVersion)) {
    const shown = JSON.stringify(resourceVersion);
    const problem = `strconv.ParseUint: parsing ${shown}: invalid syntax`;
    if (kindKey(resource) === '/events') {
      throw badRequest(`invalid resource version: resourceVersion: Invalid value: ${shown}: ${problem}`);
    }
    throw bareError(`resourceVersion: Invalid value: ${shown}: ${problem}`);
  }
  checkFuture(core, resourceVersion);
  const object = core.find(kind, request.namespace ?? '', request.name ?? '');
  if (object === undefined) throw notFound(resource, request.name ?? '');
  return { code: 200, body: inVersion(target, object) };
}

/** LIST: the body and, for those who work on them, its items. */
export function list(core: Core, target: Target): StoreResponse {
  return { code: 200, body: listObjects(core, target).body };
}

export interface Found {
  readonly body: KubeObject;
  readonly items: readonly KubeObject[];
}

export function listObjects(core: Core, target: Target): Found {
  const { request } = target;
  checkListVersion(core, target);
  const page = request.options?.continue === undefined ? firstPage(core, target) : nextPage(core, target);
  const wanted = selectorOf(target);
  const matching = wanted === undefined ? page.objects : page.objects.filter(wanted);
  const limit = usedLimit(target);
  // Whether more of what is left is wanted shows only when it is looked at.
  const shown = limit > 0 ? matching.slice(0, limit) : matching;
  const cut = limit > 0 && shown.length === limit && shown.at(-1) !== page.objects.at(-1);
  const items = shown.map((object) => inVersion(target, object));
  const last = items.at(-1);
  const more =
    cut && last !== undefined
      ? {
          continue: token(page.revision, last.metadata),
          ...(wanted === undefined ? { remainingItemCount: matching.length - limit } : {}),
        }
      : {};
  if (cut) keepSnapshot(core, snapshotKey(target, page.revision), page.all);
  return { body: listBody(target, page.revision, more, items), items };
}

interface Page {
  readonly revision: number;
  /** From here on in the order of keys. */
  readonly objects: readonly KubeObject[];
  readonly all: readonly KubeObject[];
}

function firstPage(core: Core, target: Target): Page {
  const all = core.objects(target.kind, target.request.namespace);
  return { revision: core.revision(), objects: all, all };
}

function nextPage(core: Core, target: Target): Page {
  const given = target.request.options?.continue ?? '';
  const { rv, start } = readToken(given);
  const live = rv === -1;
  const all = live
    ? core.objects(target.kind, target.request.namespace)
    : core.snapshots.get(snapshotKey(target, rv));
  if (all === undefined) throw expiredToken(start);
  return {
    revision: live ? core.revision() : rv,
    objects: all.filter(({ metadata }) => keyOf(metadata) >= start),
    all,
  };
}

function keyOf(metadata: KubeObject['metadata']): string {
  return `/${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${metadata.name}`;
}

function snapshotKey(target: Target, revision: number): string {
  return `${kindKey(target.resource)} ${target.request.namespace ?? ''} ${revision}`;
}

function keepSnapshot(core: Core, key: string, objects: readonly KubeObject[]): void {
  if (core.snapshots.has(key)) return;
  const [oldest] = core.snapshots.keys();
  if (core.snapshots.size >= SNAPSHOTS_MAX && oldest !== undefined) core.snapshots.delete(oldest);
  core.snapshots.set(key, objects);
}

function token(rv: number, last: KubeObject['metadata']): string {
  return encodeToken(rv, `${keyOf(last)}\u0000`);
}

function encodeToken(rv: number, start: string): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv, start })).toString('base64url');
}

function readToken(text: string): { readonly rv: number; readonly start: string } {
  try {
    const value: unknown = JSON.parse(Buffer.from(text, 'base64url').toString());
    if (isRecord(value) && typeof value['rv'] === 'number' && typeof value['start'] === 'string') {
      return { rv: value['rv'], start: value['start'] };
    }
  } catch {
    // Falls through: garbage and a wrong shape are the same mistake.
  }
  throw badRequest(`invalid continue token: continue key is not valid: ${text}`);
}

function expiredToken(start: string): StatusError {
  return new StatusError(410, 'Expired', EXPIRED_CONTINUE, { continue: encodeToken(-1, start) });
}

const EXPIRED_CONTINUE =
  'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the first chunk was returned and now may show up in the list.';

/** The label and the field selector of a request as one test. */
export function selectorOf(target: Target): Selector | undefined {
  const { options } = target.request;
  const byLabel = labelSelector(options?.labelSelector);
  const byField = fieldSelector(options?.fieldSelector, kindKey(target.resource), target.kind.traits.custom);
  if (byLabel === undefined) return byField;
  if (byField === undefined) return byLabel;
  return (object) => byLabel(object) && byField(object);
}

/** A list at resourceVersion 0 comes from the cache, which does not page. */
function usedLimit(target: Target): number {
  const { limit = 0, resourceVersion, continue: after } = target.request.options ?? {};
  return resourceVersion === '0' && after === undefined ? 0 : Math.max(0, limit);
}

function listBody(
  target: Target,
  revision: number,
  more: Readonly<Record<string, unknown>>,
  items: readonly KubeObject[],
): KubeObject {
  const { kind, resource } = target;
  const metadata = {
    resourceVersion: String(revision),
    ...(kind.traits.custom ? { continue: '' } : {}),
    ...more,
  };
  const body = {
    kind: kind.listKind,
    apiVersion: apiVersionOf(resource),
    metadata: Object.freeze(metadata),
    items: Object.freeze(items),
  };
  // A list has no name; KubeObject's metadata says more than a list can hold.
  return Object.freeze(body) as unknown as KubeObject;
}

function checkListVersion(core: Core, target: Target): void {
  const { resourceVersion, resourceVersionMatch: match, continue: after } = target.request.options ?? {};
  if (match !== undefined && !['Exact', 'NotOlderThan', ''].includes(match)) {
    throw invalidOptions(
      'ListOptions',
      unsupported('resourceVersionMatch', match, ['Exact', 'NotOlderThan', '']),
    );
  }
  if (resourceVersion === undefined || resourceVersion === '') {
    if (match === undefined) return;
    throw invalidOptions(
      'ListOptions',
      fieldForbidden(
        'resourceVersionMatch',
        'resourceVersionMatch is forbidden unless resourceVersion is provided',
      ),
    );
  }
  if (!/^\d+$/.test(resourceVersion)) {
    throw badRequest(
      `invalid resource version: resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: strconv.ParseUint: parsing ${JSON.stringify(resourceVersion)}: invalid syntax`,
    );
  }
  if (after !== undefined && resourceVersion !== '0') {
    throw badRequest('specifying resource version is not allowed when using continue');
  }
  checkFuture(core, resourceVersion);
  if (match !== 'Exact') return;
  if (resourceVersion === '0') {
    const detail = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"';
    throw invalidOptions('ListOptions', fieldForbidden('resourceVersionMatch', detail));
  }
  // This server keeps no earlier states: an older one is as good as compacted.
  if (Number(resourceVersion) !== core.revision()) {
    throw new StatusError(410, 'Expired', 'The resourceVersion for the provided list is too old.');
  }
}

/** The real server waits three seconds for the future before it says so. */
function checkFuture(core: Core, resourceVersion: string | undefined): void {
  if (resourceVersion === undefined || Number(resourceVersion) <= core.revision()) return;
  const message = `Timeout: Too large resource version: ${resourceVersion}, current: ${core.revision()}`;
  const causes = [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }];
  throw new StatusError(504, 'Timeout', message, { details: { causes, retryAfterSeconds: 1 } });
}
