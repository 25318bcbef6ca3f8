import { pluralName, StatusError } from '../status.ts';
import type { StoreRequest } from '../types.ts';
import type { Route } from './path.ts';

const PUBLIC = ['/healthz', '/livez', '/readyz', '/version'];
export const ANONYMOUS = 'system:anonymous';

/** A refusal that comes before the request is looked at. */
export class Forbidden extends StatusError {}

/** Nobody without a token may do anything but ask whether the server lives. */
export function authorize(
  user: string,
  verb: StoreRequest['verb'] | 'watch',
  route: Route | undefined,
  path: string,
): void {
  if (user !== ANONYMOUS || PUBLIC.includes(path.replace(/\/$/, ''))) return;
  if (route?.kind !== 'resource') {
    const message = `forbidden: User "${user}" cannot get path "${path}"`;
    throw new Forbidden(403, 'Forbidden', message, { details: {} });
  }
  const { resource, name, subresource } = route;
  // A namespace counts as inside of itself.
  const inside = resource.group === '' && resource.plural === 'namespaces' && name !== undefined;
  const namespace = inside ? name : route.namespace;
  const { group, plural } = resource;
  const qualified = pluralName(resource);
  const subject = name === undefined ? qualified : `${qualified} "${name}"`;
  const what = subresource === undefined ? plural : `${plural}/${subresource}`;
  const scope = namespace === undefined ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const message = `${subject} is forbidden: User "${user}" cannot ${verb} resource "${what}" in API group "${group}" ${scope}`;
  const details = {
    ...(name === undefined ? {} : { name }),
    ...(group === '' ? {} : { group }),
    kind: plural,
  };
  throw new Forbidden(403, 'Forbidden', message, { details });
}
