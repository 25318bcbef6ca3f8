import { describe, expect, it } from 'vitest';
import { brokenRule } from '../../src/controller/guard.ts';
import type { Observation, Request } from '../../src/platform/platform.ts';
import type { Action } from '../../src/pool/types.ts';

const VOLUMES = {
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  plural: 'persistentvolumeclaims',
  namespaced: true,
} as const;
const OWN: Extract<Request, { ownedBy: string }> = {
  verb: 'delete',
  resource: VOLUMES,
  namespace: 'ide',
  name: 'instance-3-java-0a1b2c3d4e5f-pvc',
  uid: 'volume',
  resourceVersion: '7',
  propagation: 'Background',
  ownedBy: 'source',
};
const EMPTY: Action = { kind: 'empty', slot: '3', reason: 'dirty' };

function observed(claimedBy?: string): Observation {
  const instance = { slot: '3', needs: [], ...(claimedBy === undefined ? {} : { claimedBy }) };
  return { observed: { instances: [instance] }, source: { uid: 'source' } } as unknown as Observation;
}

/** A request that no type allows: what a slip somewhere else would have to look like. */
function slip(fields: object): Request {
  return { ...OWN, ...fields } as unknown as Request;
}

describe('storage', () => {
  it('of an unclaimed instance of the pool may go', () => {
    expect(brokenRule(OWN, EMPTY, observed())).toBeUndefined();
  });

  it.each([
    ['a volume of a Workspace', { name: 'ws-ada-java-0a1b2c3d4e5f' }],
    ['a volume of another slot', { name: 'instance-33-java-0a1b2c3d4e5f-pvc' }],
    ['a volume of another definition', { ownedBy: 'other' }],
    ['a volume of no known owner', { ownedBy: undefined }],
    ['a PersistentVolume', { resource: { ...VOLUMES, kind: 'PersistentVolume' } }],
    ['a Session', { resource: { ...VOLUMES, kind: 'Session' } }],
    ['a Workspace', { resource: { ...VOLUMES, kind: 'Workspace' } }],
    ['a snapshot', { resource: { ...VOLUMES, kind: 'VolumeSnapshot' } }],
  ])('%s may not', (_, fields) => {
    expect(brokenRule(slip(fields), EMPTY, observed())).toBe('P12');
  });

  it('is not deleted without its version', () => {
    expect(brokenRule(slip({ resourceVersion: '' }), EMPTY, observed())).toBe('P5');
  });

  it('of a claimed instance stays', () => {
    expect(brokenRule(OWN, EMPTY, observed('ws-ada'))).toBe('P11');
  });

  it('is not opened by taking a finalizer off', () => {
    const patch: Request = {
      verb: 'patch',
      resource: VOLUMES,
      namespace: 'ide',
      name: OWN.name,
      resourceVersion: '7',
      patch: [
        { op: 'test', path: '/metadata/resourceVersion', value: '7' },
        { op: 'remove', path: '/metadata/finalizers/0' },
      ],
    };
    expect(brokenRule(patch, EMPTY, observed())).toBe('P12');
    const label = { op: 'add', path: '/metadata/labels/a', value: 'b' } as const;
    const labelled = { ...patch, patch: [patch.patch[0] ?? label, label] };
    expect(brokenRule(labelled, EMPTY, observed())).toBeUndefined();
  });
});
