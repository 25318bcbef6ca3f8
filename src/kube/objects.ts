import type { KubeObject, Resource } from './api.ts';
import { isRecord } from './json.ts';

/**
 * `value` as an object of `resource`, or `undefined` when it is none. Items of core lists come without kind and
 * apiVersion, metadata-only ones under another kind: both get the resource's own, so that one object looks the same
 * however it was read.
 */
export function asObject(resource: Resource, value: unknown): KubeObject | undefined {
  if (!isRecord(value) || !isRecord(value['metadata'])) return undefined;
  const { metadata } = value;
  if (typeof metadata['name'] !== 'string') return undefined;
  const { kind, apiVersion } = value;
  const isBare =
    typeof kind !== 'string' || typeof apiVersion !== 'string' || kind === 'PartialObjectMetadata';
  return {
    ...value,
    kind: isBare ? resource.kind : kind,
    apiVersion: isBare ? apiVersionOf(resource) : apiVersion,
    metadata: { ...metadata, name: metadata['name'] },
  };
}

/** `apps/v1`, and `v1` for the core group. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}
