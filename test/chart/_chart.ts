import { spawnSync } from 'node:child_process';
import { loadAll } from 'js-yaml';
import { findHelm } from './helm.ts';

export const CHART = 'infra/chart';

/** An object that the chart makes. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  // biome-ignore lint/suspicious/noExplicitAny: what a kind holds is for its test to say
  readonly [field: string]: any;
}

/** Values of a forwarder that the schema accepts. */
export const FORWARDER = {
  mode: 'forwarder',
  namespaces: ['theia', 'ide'],
  forwarder: {
    cluster: 'prod-eu',
    webhook: { url: 'https://door.example.com', key: 'k1', secretName: 'everwarm-webhook' },
    functions: { groups: ['everwarm-functions'] },
  },
};

/** What `helm ARGS` says, with `values` on its input where it is asked for. */
export function helm(
  args: readonly string[],
  values: unknown = {},
): { code: number | null; out: string; err: string } {
  const found = findHelm();
  if (found.kind === 'missing') throw new Error(found.reason);
  const { status, stdout, stderr } = spawnSync(found.path, args, {
    encoding: 'utf8',
    input: JSON.stringify(values),
    maxBuffer: 64 * 1024 * 1024,
  });
  return { code: status, out: stdout, err: stderr };
}

/** The objects of the chart with these values, as `helm install ew -n ops` would make them. Throws what helm says otherwise. */
export function manifests(values: unknown = {}): readonly Manifest[] {
  const { code, out, err } = helm(['template', 'ew', CHART, '-n', 'ops', '-f', '-'], values);
  if (code !== 0) throw new Error(err);
  return (loadAll(out) as (Manifest | null)[]).filter((one) => one !== null);
}

/** The one object of this kind and name. */
export function only(all: readonly Manifest[], kind: string, name?: string): Manifest {
  const found = all.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
  const [first] = found;
  if (first === undefined || found.length > 1)
    throw new Error(`${found.length} objects ${kind} ${name ?? ''}`);
  return first;
}
