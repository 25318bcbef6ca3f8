import { describe, expect, it } from 'vitest';
import { brokenRule } from '../../src/controller/guard.ts';
import type { JsonPatch, Resource } from '../../src/kube/api.ts';
import type { Observation, Request } from '../../src/platform/platform.ts';
import type { Action, Instance } from '../../src/pool/types.ts';
import { claimed, instance, pool } from '../pool/_world.ts';

const SERVICES: Resource = {
  group: '',
  version: 'v1',
  kind: 'Service',
  plural: 'services',
  namespaced: true,
};
const DISPOSABLE = {
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  plural: 'configmaps',
  namespaced: true,
} as const;
const CONFIG_MAPS: Resource = { ...SERVICES, kind: 'ConfigMap', plural: 'configmaps' };
const POOL = 'pool-uid';
const MISSING = { object: 'ConfigMap/one', lacks: ['object'], made: true } as const;

/** A pool in which somebody holds slot 1, and nobody slot 2. */
function seen(slots: readonly Instance[] = [claimed('1', { needs: [MISSING] }), instance('2')]): Observation {
  const { desired, observed, policy, now } = pool(slots);
  return {
    key: { cluster: 'c', platform: 'p', namespace: 'n', name: 'java' },
    now,
    desired,
    observed,
    policy,
    warmPool: { name: 'java', uid: POOL, resourceVersion: '1', owners: [] },
    source: { apiVersion: 'a/v1', kind: 'App', name: 'java', uid: 'app-uid' },
    requestsFor: () => [],
  };
}

function patch(operations: JsonPatch, resource = SERVICES): Request {
  const test = { op: 'test', path: '/metadata/resourceVersion', value: '7' } as const;
  const place = { namespace: 'n', name: 'one', resourceVersion: '7' };
  return { verb: 'patch', resource, ...place, patch: [test, ...operations] };
}

const HEAL: Action = { kind: 'heal', slot: '1', object: MISSING.object, lacks: ['object'] };
const OWN = { op: 'add', path: '/metadata/ownerReferences/-', value: { kind: 'Session' } } as const;
const CREATE: Request = {
  verb: 'create',
  resource: CONFIG_MAPS,
  namespace: 'n',
  body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'one' } },
};

describe('an instance in use', () => {
  it.each<[string, Request]>([
    ['an owner more', patch([OWN])],
    ['its first owners', patch([{ op: 'add', path: '/metadata/ownerReferences', value: [{}] }])],
    ['labels', patch([{ op: 'add', path: '/metadata/labels/a~1b', value: 'c' }])],
    ['annotations', patch([{ op: 'add', path: '/metadata/annotations', value: {} }])],
    ["its user's entry", patch([{ op: 'add', path: '/data/list', value: 'ada' }], CONFIG_MAPS)],
    ['what is missing', CREATE],
    [
      'our own reference taken off',
      patch([
        { op: 'test', path: '/metadata/ownerReferences/1/uid', value: POOL },
        { op: 'remove', path: '/metadata/ownerReferences/1' },
      ]),
    ],
  ])('may be given %s', (_, request) => {
    expect(brokenRule(request, HEAL, seen())).toBeUndefined();
  });

  it.each<[string, Request]>([
    ['loses another owner', patch([{ op: 'remove', path: '/metadata/ownerReferences/1' }])],
    [
      'loses an owner that is not ours',
      patch([
        { op: 'test', path: '/metadata/ownerReferences/0/uid', value: 'app-uid' },
        { op: 'remove', path: '/metadata/ownerReferences/0' },
      ]),
    ],
    [
      'loses another owner than the one that was tested',
      patch([
        { op: 'test', path: '/metadata/ownerReferences/1/uid', value: POOL },
        { op: 'remove', path: '/metadata/ownerReferences/0' },
      ]),
    ],
    ['gets other owners', patch([{ op: 'replace', path: '/metadata/ownerReferences', value: [] }])],
    ['gets another owner in the place of one', patch([{ ...OWN, path: '/metadata/ownerReferences/0' }])],
    ['gets another spec', patch([OWN, { op: 'add', path: '/spec/replicas', value: 1 }])],
    [
      'gets another pod template',
      patch([{ op: 'add', path: '/spec/template/metadata/labels/a', value: 'b' }]),
    ],
    ['gets data that no ConfigMap is', patch([{ op: 'add', path: '/data/key', value: 'x' }])],
  ])('never %s', (_, request) => {
    expect(brokenRule(request, HEAL, seen())).toBe('P11');
  });

  it('is never deleted, whatever it is called', () => {
    const gone: Request = {
      verb: 'delete',
      resource: DISPOSABLE,
      namespace: 'n',
      name: 'one',
      uid: 'u',
      resourceVersion: '7',
      propagation: 'Background',
    };
    expect(brokenRule(gone, HEAL, seen())).toBe('P11');
    expect(brokenRule(gone, { kind: 'remove', slot: '1' }, seen())).toBe('P11');
  });

  it('gets no object that it does not lack', () => {
    expect(brokenRule(CREATE, HEAL, seen([claimed('1')]))).toBe('P11');
    expect(brokenRule(CREATE, { kind: 'unhold', slot: '1' }, seen())).toBe('P11');
  });

  it('is in no other action, and care is for nobody else', () => {
    expect(brokenRule(patch([OWN]), { kind: 'relabel', slot: '1' }, seen())).toBe('P11');
    expect(brokenRule(patch([OWN]), { ...HEAL, slot: '2' }, seen())).toBe('P11');
  });

  it('is not written on without a look at its version', () => {
    const { patch: operations, ...rest } = patch([OWN]) as Extract<Request, { verb: 'patch' }>;
    expect(brokenRule({ ...rest, patch: operations.slice(1) }, HEAL, seen())).toBe('P5');
  });
});
