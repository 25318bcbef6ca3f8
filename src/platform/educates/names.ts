const SUFFIX = '-ui';

/** The portal that runs in `namespace`, if one can. Its WarmPool is there too: a portal itself belongs to no namespace. */
export function portalIn(namespace: string): string | undefined {
  const name = namespace.endsWith(SUFFIX) ? namespace.slice(0, -SUFFIX.length) : '';
  return name === '' ? undefined : name;
}
