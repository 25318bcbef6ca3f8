import { isFields, isVoid, textOf } from '../../pool/compare.ts';

type Path = readonly string[];

/** What a server fills in where a Deployment says nothing; a tag decides on the pull policy, so any is its own. */
const DEFAULTS: Readonly<Record<string, unknown>> = {
  progressDeadlineSeconds: 600,
  revisionHistoryLimit: 10,
  dnsPolicy: 'ClusterFirst',
  restartPolicy: 'Always',
  schedulerName: 'default-scheduler',
  terminationGracePeriodSeconds: 30,
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  protocol: 'TCP',
  defaultMode: 420,
};
const ANY: ReadonlySet<string> = new Set(['strategy', 'imagePullPolicy']);

/** What kubectl notes on a pod template when a person restarts it. */
const RESTARTED = 'kubectl.kubernetes.io/restartedAt';

/** How the entries of a pod's lists are told apart. */
const KEYS = ['name', 'containerPort', 'mountPath'] as const;

/**
 * The fields that stand in a Deployment's spec beside what is rendered, and are no server's default: a node selector, a
 * toleration, a probe. Extra entries of the lists that are rendered are found by comparing them.
 */
export function additionsIn(rendered: unknown, live: unknown): readonly string[] {
  return walk(rendered, live, ['spec']).map(textOf);
}

function walk(rendered: unknown, live: unknown, path: Path): readonly Path[] {
  if (Array.isArray(live)) return Array.isArray(rendered) ? inList(rendered, live, path) : [];
  if (!isFields(live) || !isFields(rendered)) return [];
  return Object.entries(live).flatMap(([name, value]) => {
    const at = [...path, name];
    if (Object.hasOwn(rendered, name)) return walk(rendered[name], value, at);
    return isExpected(name, value) ? [] : [at];
  });
}

function inList(rendered: readonly unknown[], live: readonly unknown[], path: Path): readonly Path[] {
  return live.flatMap((entry) => {
    const name = nameOf(entry);
    const twin = rendered.find((one) => name !== undefined && nameOf(one) === name);
    return twin === undefined ? [] : walk(twin, entry, [...path, `[${name}]`]);
  });
}

function isExpected(name: string, value: unknown): boolean {
  return isVoid(value, name) || ANY.has(name) || DEFAULTS[name] === value || name === RESTARTED;
}

function nameOf(entry: unknown): string | undefined {
  if (!isFields(entry)) return undefined;
  const name = KEYS.map((key) => entry[key]).find((value) => value !== undefined);
  return name === undefined ? undefined : String(name);
}
