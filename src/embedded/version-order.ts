/** Kubernetes' order of versions: stable before beta before alpha, higher numbers first; free names last. */
export function compareVersions(left: string, right: string): number {
  const [a, b] = [rank(left), rank(right)];
  if (a === undefined || b === undefined) {
    if (a !== b) return a === undefined ? 1 : -1;
    return left < right ? -1 : 1;
  }
  const first = a.findIndex((part, index) => part !== b[index]);
  return first < 0 ? 0 : (b[first] ?? 0) - (a[first] ?? 0);
}

function rank(version: string): readonly number[] | undefined {
  const match = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version);
  if (match === null) return undefined;
  const stage = match[2] === undefined ? 2 : Number(match[2] === 'beta');
  return [stage, Number(match[1]), Number(match[3] ?? 0)];
}
