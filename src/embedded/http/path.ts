import type { StoreRequest } from '../types.ts';

/** What a URL path means. */
export type Route =
  | {
      readonly kind: 'resource';
      readonly resource: StoreRequest['resource'];
      readonly namespace?: string;
      readonly name?: string;
      readonly subresource?: string;
    }
  /** `/api/v1` or `/apis/<group>/<version>`: what is served there. */
  | { readonly kind: 'groupVersion'; readonly group: string; readonly version: string }
  /** `/apis/<group>`. */
  | { readonly kind: 'group'; readonly group: string }
  /** `/api`, `/apis`, `/version`, `/openapi/…`, `/healthz` and everything else. */
  | { readonly kind: 'other'; readonly path: string };

/** Reads a path; `undefined` for one that no server has. */
export function parsePath(path: string): Route | undefined {
  const parts = decode(path);
  if (parts === undefined) return undefined;
  const [root, first, second] = parts;
  if (root === 'api' && first !== undefined) {
    return parseResource({ group: '', version: first }, parts.slice(2));
  }
  if (root === 'apis' && first !== undefined) {
    if (second === undefined) return { kind: 'group', group: first };
    return parseResource({ group: first, version: second }, parts.slice(3));
  }
  return { kind: 'other', path: `/${parts.join('/')}` };
}

function decode(path: string): readonly string[] | undefined {
  try {
    return path
      .split('/')
      .filter((part) => part !== '')
      .map(decodeURIComponent);
  } catch {
    return undefined;
  }
}

function parseResource(
  at: { readonly group: string; readonly version: string },
  parts: readonly string[],
): Route | undefined {
  const [first, second, third] = parts;
  if (first === undefined) return { kind: 'groupVersion', ...at };
  // A namespace is a resource itself, and the place of others.
  const placed = first === 'namespaces' && third !== undefined && !['status', 'finalize'].includes(third);
  const [plural, name, subresource, rest] = placed ? parts.slice(2) : parts;
  if (plural === undefined || rest !== undefined) return undefined;
  return {
    kind: 'resource',
    resource: { ...at, plural },
    ...(placed && second !== undefined ? { namespace: second } : {}),
    ...(name === undefined ? {} : { name }),
    ...(subresource === undefined ? {} : { subresource }),
  };
}
