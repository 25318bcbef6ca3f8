import type { KubeObject } from '../kube/api.ts';
import { type AppDefinition, parseAppDefinition } from '../platform/theia-cloud/crds.ts';
import { APP_LABEL } from '../platform/theia-cloud/labels.ts';
import {
  type InstanceNames,
  instanceNames,
  podSelector,
  sidecarName,
  volumeClaimName,
} from '../platform/theia-cloud/names.ts';
import type { Instance } from '../pool/types.ts';
import type { PoolLook } from './look.ts';

/** The definition of the pool that is looked at; `undefined` when it does not parse. */
export function sourceOf({ observation, objects }: PoolLook): AppDefinition | undefined {
  const read = parseAppDefinition(objects.find(({ metadata }) => metadata.uid === observation.source.uid));
  return read.kind === 'parsed' ? read.value : undefined;
}

/** The objects under the slot's names, and its pods. */
export function partsOf(look: PoolLook, { slot }: Instance): readonly KubeObject[] {
  const source = sourceOf(look);
  if (source === undefined) return [];
  const at = Number(slot);
  // A sidecar's pods are selected by the name of its objects.
  const sidecars = (source.spec.sidecars ?? []).map(({ name }) => sidecarName(source, at, name));
  const names = new Set([
    ...Object.values(instanceNames(source, at)),
    volumeClaimName(source, at),
    ...sidecars,
  ]);
  const selectors = new Set([podSelector(source, at), ...sidecars]);
  const isPart = ({ kind, metadata }: KubeObject) =>
    kind === 'Pod' ? selectors.has(metadata.labels?.[APP_LABEL] ?? '') : names.has(metadata.name);
  return look.objects.filter(isPart);
}

/** The object that stands under one of the slot's names. */
export function partOf(
  look: PoolLook,
  { slot }: Instance,
  [kind, name]: readonly [kind: string, name: keyof InstanceNames],
): KubeObject | undefined {
  const source = sourceOf(look);
  if (source === undefined) return undefined;
  const wanted = instanceNames(source, Number(slot))[name];
  return look.objects.find((object) => object.kind === kind && object.metadata.name === wanted);
}

/** The Session of that name. */
export function sessionNamed({ objects }: PoolLook, name: string | undefined): KubeObject | undefined {
  return objects.find(({ kind, metadata }) => kind === 'Session' && metadata.name === name);
}

/** A piece of text of an object, `undefined` when there is none. */
export function textAt(object: KubeObject | undefined, ...path: readonly string[]): string | undefined {
  let value: unknown = object;
  for (const step of path) {
    value = typeof value === 'object' && value !== null ? Reflect.get(value, step) : undefined;
  }
  return typeof value === 'string' ? value : undefined;
}
