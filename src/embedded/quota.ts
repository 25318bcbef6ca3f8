import type { KubeObject } from '../kube/api.ts';
import type { Core, Target } from './core.ts';
import { deepEqual, type Json, record } from './json.ts';
import { type Kind, kindKey } from './kind.ts';
import { parseQuantity } from './schema/quantity.ts';
import { forbidden, pluralName } from './status.ts';

/**
 * ResourceQuotas that count objects: `pods`, `services`, `configmaps`, `secrets`, `persistentvolumeclaims` and
 * `count/<plural>[.<group>]`. Amounts (`requests.cpu` and the like) are stored but not enforced.
 */

const PLAIN = ['pods', 'services', 'configmaps', 'secrets', 'persistentvolumeclaims', 'resourcequotas'];

function namesOf(kind: Kind): readonly string[] {
  const name = pluralName(kind.resource);
  return PLAIN.includes(name) ? [name, `count/${name}`] : [`count/${name}`];
}

/** 403 when one more object would exceed a quota of its namespace. */
export function admitToQuota(core: Core, target: Target, object: KubeObject): void {
  const { kind, resource, request } = target;
  for (const quota of quotas(core, request.namespace)) {
    const hard = record(record(quota['spec'])['hard']);
    for (const name of namesOf(kind)) {
      const limit = hard[name];
      if (limit === undefined) continue;
      const used = count(core, kind, object.metadata.namespace ?? '', name);
      if (used + 1 <= amount(limit)) continue;
      const detail = `exceeded quota: ${quota.metadata.name}, requested: ${name}=1, used: ${name}=${used}, limited: ${name}=${limit}`;
      throw forbidden(resource, object.metadata.name, detail);
    }
  }
}

function quotas(core: Core, namespace: string | undefined): readonly KubeObject[] {
  const kind = core.registry.get('', 'resourcequotas');
  return kind === undefined || namespace === undefined ? [] : core.objects(kind, namespace);
}

function amount(limit: unknown): number {
  const parsed = parseQuantity(String(limit));
  return parsed === undefined ? 0 : Number(parsed.nano / 1_000_000_000n);
}

/** Pods that have ended count under `count/pods` alone. */
function count(core: Core, kind: Kind, namespace: string, name: string): number {
  const objects = core.objects(kind, namespace);
  if (name !== 'pods') return objects.length;
  return objects.filter((pod) => {
    const phase = record(pod['status'])['phase'];
    return phase !== 'Succeeded' && phase !== 'Failed';
  }).length;
}

/** After a change of `kind` in `namespace`: brings the status of its quotas up to date. */
export function refreshQuotas(core: Core, namespace: string | undefined): void {
  const kind = core.registry.get('', 'resourcequotas');
  if (kind === undefined || namespace === undefined) return;
  for (const quota of core.objects(kind, namespace)) {
    const hard = record(record(quota['spec'])['hard']);
    const used = usage(core, namespace, hard);
    if (deepEqual(record(quota['status']), { hard, used })) continue;
    const [version] = kind.versions;
    if (version === undefined) continue;
    const { resource } = kind;
    const request = {
      verb: 'update',
      resource,
      namespace,
      name: quota.metadata.name,
      subresource: 'status',
      user: 'system:serviceaccount:kube-system:resourcequota-controller',
    } as const;
    core.commit(
      'MODIFIED',
      { kind, version, resource, request },
      { ...quota, status: { hard, used } },
      quota,
    );
  }
}

function usage(core: Core, namespace: string, hard: Json): Json {
  const counted = new Map(
    core.registry.all().flatMap((kind) => namesOf(kind).map((name) => [name, kind] as const)),
  );
  return Object.fromEntries(
    Object.keys(hard).map((name) => {
      const kind = counted.get(name);
      return [name, kind === undefined ? '0' : String(count(core, kind, namespace, name))];
    }),
  );
}

/** Whether the status of quotas may depend on this kind. */
export function isCounted(kind: Kind): boolean {
  return kindKey(kind.resource) !== '/events' && kind.resource.namespaced;
}
