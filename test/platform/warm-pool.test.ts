import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { KubeObject } from '../../src/kube/api.ts';
import { defaultPolicy, readWarmPool, writeStatus } from '../../src/platform/warm-pool.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import type { PoolStatus } from '../../src/pool/types.ts';

const NOW = Date.parse('2026-12-01T10:00:00Z');

function warmPool(fields: Record<string, unknown> = {}): KubeObject {
  const metadata = { name: 'java', namespace: 'ide', uid: 'pool-uid', resourceVersion: '7' };
  return { apiVersion: 'everwarm.dev/v1alpha1', kind: 'WarmPool', metadata, ...fields };
}

it('the manifest that people apply is the kind that the program installs', () => {
  const manifest = JSON.parse(readFileSync('infra/crds/warmpools.everwarm.dev.json', 'utf8'));
  expect(manifest).toEqual(WARM_POOL_CRD);
});

it('a WarmPool without a spec has the defaults of the configuration', () => {
  expect(readWarmPool(warmPool(), 'guard')).toMatchObject({
    policy: defaultPolicy('guard'),
    staleness: 'fields',
  });
  expect(readWarmPool(warmPool(), 'observe').policy.mode).toBe('observe');
});

it.each([
  { given: 3, read: 3 },
  { given: '40%', read: '40%' },
])('maxUnavailable may be $given', ({ given, read }) => {
  const pool = warmPool({ spec: { rollout: { maxUnavailable: given } } });
  expect(readWarmPool(pool, 'guard').policy.maxUnavailable).toBe(read);
});

it.each([
  { spec: { rollout: { maxUnavailable: '250%' } }, field: 'spec.rollout.maxUnavailable' },
  { spec: { rollout: { maxUnavailable: 0 } }, field: 'spec.rollout.maxUnavailable' },
  { spec: { mode: 'own' }, field: 'spec.mode' },
])('a policy that does not parse names $field and is not guessed', ({ spec, field }) => {
  expect(readWarmPool(warmPool({ spec }), 'guard').problem).toContain(field);
});

it('what a pass writes, the next one reads back, times to the second', () => {
  const entry = { slot: '3', anchor: 'a', workload: 'w', revision: 'v1-1', pass: 'p', since: NOW };
  const status: PoolStatus = {
    observedGeneration: 4,
    revision: 'v1-1',
    adopted: true,
    counts: {
      desired: 3,
      ready: 2,
      current: 2,
      stale: 1,
      claimed: 0,
      claimedStale: 0,
      claimedSurplus: 0,
      failed: 0,
      blocked: 0,
    },
    ledger: [entry],
    waiting: [{ slot: '2', cause: 'quota', revision: 'v1-1+abc', since: NOW, tries: 2 }],
    nextCheckAt: NOW + 40_000,
    conditions: [
      {
        type: 'Ready',
        status: 'True',
        reason: 'R',
        message: 'm',
        lastTransitionTime: '2026-12-01T10:00:00Z',
      },
    ],
  };
  const ref = readWarmPool(warmPool(), 'guard').ref;
  const request = writeStatus('ide', ref, status);
  const written =
    request.verb === 'patch' && request.patch[1]?.op === 'add' ? request.patch[1].value : undefined;
  const read = readWarmPool(warmPool({ status: JSON.parse(JSON.stringify(written)) }), 'guard');
  expect(read.memory).toEqual(status);
});

it('a status that an older release wrote otherwise is forgotten, not guessed', () => {
  expect(readWarmPool(warmPool({ status: { ledger: 'none' } }), 'guard').memory.ledger).toEqual([]);
});

it('a person accepts a difference between templates by annotation', () => {
  const metadata = { name: 'java', annotations: { 'everwarm.dev/accept-template': 'v1-0123456789' } };
  expect(readWarmPool({ ...warmPool(), metadata }, 'guard').accepted).toBe('v1-0123456789');
  expect(readWarmPool(warmPool(), 'guard').accepted).toBeUndefined();
});

it('a person asks for new instances by annotation, for the pool or for one slot', () => {
  const metadata = {
    name: 'java',
    annotations: {
      'everwarm.dev/refresh': '2026-12-01T10:00:00Z',
      'everwarm.dev/refresh-3': '2026-12-01T11:00:00Z',
      'everwarm.dev/refresh-4': 'soon',
    },
  };
  const { refresh } = readWarmPool({ ...warmPool(), metadata }, 'guard');
  expect([...refresh]).toEqual([
    ['*', NOW],
    ['3', NOW + 3_600_000],
  ]);
});
