import type { Failure, Resource } from './api.ts';
import { isLabel, isSubdomain } from './names.ts';

/** One API call, as far as its URL and its error messages need it. */
export interface Call {
  readonly verb: 'get' | 'list' | 'watch' | 'create' | 'patch' | 'delete';
  readonly resource: Resource;
  readonly namespace?: string | undefined;
  readonly name?: string | undefined;
  readonly subresource?: string | undefined;
}

/** How messages name a call: `patch Deployment ide/instance-3`. */
export function describeCall(call: Call): string {
  const place = [call.namespace, call.name].filter((part) => part !== undefined).join('/');
  const kind =
    call.subresource === undefined ? call.resource.kind : `${call.resource.kind}/${call.subresource}`;
  return [call.verb, kind, ...(place === '' ? [] : [place])].join(' ');
}

/** What keeps a call from being sent at all: a name that cannot exist, or a namespace that is missing. */
export function refuse(call: Call): Failure | undefined {
  const { resource, namespace, name } = call;
  const named = call.verb === 'get' || call.verb === 'patch' || call.verb === 'delete';
  if (name !== undefined && !isSubdomain(name)) return invalid(call, 'the name is no DNS-1123 subdomain');
  if (named && name === undefined) return invalid(call, 'a name is needed');
  if (!resource.namespaced) return undefined;
  if (namespace !== undefined) {
    return isLabel(namespace) ? undefined : invalid(call, 'the namespace is no DNS-1123 label');
  }
  return named || call.verb === 'create' ? invalid(call, 'a namespace is needed') : undefined;
}

/** The path of the call below the server's URL, without a query. Only for a call that `refuse` let pass. */
export function pathOf(call: Call): string {
  const { resource, namespace, name, subresource } = call;
  const root = resource.group === '' ? ['api', resource.version] : ['apis', resource.group, resource.version];
  const scope = resource.namespaced && namespace !== undefined ? ['namespaces', namespace] : [];
  // A create goes to the collection; its name travels in the body and is here for messages alone.
  const item = call.verb === 'create' ? [] : [name, subresource];
  const rest = [resource.plural, ...item].filter((part) => part !== undefined);
  return `/${[...root, ...scope, ...rest].map(encodeURIComponent).join('/')}`;
}

function invalid(call: Call, why: string): Failure {
  // The name itself stays out of the message: it may be anything, of any length.
  return { kind: 'invalid', reason: 'Invalid', message: `${call.verb} ${call.resource.kind}: ${why}` };
}
