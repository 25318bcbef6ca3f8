/**
 * The part of Kubernetes' JSONPath that printer columns use: `.a.b`, `['a']`, `[0]`, `[-1]`, `[*]` and filters
 * `[?(@.type=="Ready")]`. Returns all values found.
 */
export function jsonPath(path: string): (object: unknown) => readonly unknown[] {
  const steps = parse(path);
  return (object) => steps.reduce<readonly unknown[]>((values, step) => values.flatMap(step), [object]);
}

type Step = (value: unknown) => readonly unknown[];

const TOKEN =
  /\.?\['((?:[^'\\]|\\.)*)'\]|\[(-?\d+)\]|(\[\*\]|\.\*)|\[\?\(@\.([^=!<>\s]+)\s*(==|!=)\s*(?:"([^"]*)"|'([^']*)'|([^)]*))\)\]|\.?((?:[^.[\]\\]|\\.)+)/gy;

function parse(path: string): readonly Step[] {
  const steps: Step[] = [];
  let end = 0;
  for (const match of path.trim().matchAll(TOKEN)) {
    end = match.index + match[0].length;
    steps.push(step(match));
  }
  // A path that is not understood finds nothing, as an absent field does.
  return end === path.trim().length ? steps : [() => []];
}

function step(match: RegExpExecArray | RegExpMatchArray): Step {
  const [, quoted, index, star, field, operator, double, single, bare, plain] = match;
  if (index !== undefined) return (value) => (Array.isArray(value) ? present(value.at(Number(index))) : []);
  if (star !== undefined) return elements;
  if (field !== undefined) {
    const wanted = double ?? single ?? bare?.trim() ?? '';
    const read = jsonPath(`.${field}`);
    const keep = (element: unknown) => (String(read(element)[0] ?? '') === wanted) === (operator === '==');
    return (value) => elements(value).filter(keep);
  }
  const key = (quoted ?? plain ?? '').replace(/\\(.)/g, '$1');
  return (value) =>
    typeof value === 'object' && value !== null && Object.hasOwn(value, key)
      ? present((value as Readonly<Record<string, unknown>>)[key])
      : [];
}

function elements(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'object' && value !== null ? Object.values(value) : [];
}

function present(value: unknown): readonly unknown[] {
  return value === undefined ? [] : [value];
}
