import { expect, it } from 'vitest';
import { addLoopMetrics, createPrometheus } from '../../src/app/prometheus.ts';
import type { PoolStatus } from '../../src/pool/types.ts';
import { poolKey, START } from '../transport/_world.ts';

function status(ready: number, isDegraded = false): PoolStatus {
  const counts = {
    desired: 5,
    ready,
    current: ready,
    stale: 0,
    claimed: 1,
    claimedStale: 0,
    claimedSurplus: 0,
    failed: 0,
  };
  const degraded = {
    type: 'Degraded',
    status: isDegraded ? 'True' : 'False',
    reason: 'AsExpected',
    message: '',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  } as const;
  return { ledger: [], waiting: [], conditions: [degraded], counts: { ...counts, blocked: 0 } };
}

it('the numbers of a pool are those of the last look, and go with the pool', async () => {
  const prometheus = await createPrometheus();
  const loop = addLoopMetrics(prometheus, () => START);
  const numbers = async (pool: string) =>
    (await prometheus.registry.metrics())
      .split('\n')
      .filter((line) => line.includes(`pool="${pool}"`) && /phase="ready"|stale_seconds|Degraded/.test(line))
      .map((line) => line.replace(/platform="theia-cloud",namespace="ide",/, ''))
      .sort();

  loop.seen(poolKey('java'), 0, status(3));
  loop.seen(poolKey('python'), 90, status(5, true));
  loop.resync('ide', 'done');
  expect(await numbers('java')).toEqual([
    'everwarm_pool_condition{pool="java",type="Degraded"} 0',
    'everwarm_pool_instances{pool="java",phase="ready"} 3',
    'everwarm_pool_stale_seconds{pool="java"} 0',
  ]);
  expect(await numbers('python')).toEqual([
    'everwarm_pool_condition{pool="python",type="Degraded"} 1',
    'everwarm_pool_instances{pool="python",phase="ready"} 5',
    'everwarm_pool_stale_seconds{pool="python"} 90',
  ]);

  // A look that failed saw nothing, and that is no reason to forget.
  loop.resync('ide', 'failed');
  loop.resync('other', 'done');
  expect(await numbers('python')).toHaveLength(3);

  loop.seen(poolKey('java'), 0, status(4));
  loop.resync('ide', 'done');
  expect(await numbers('python')).toEqual([]);
  expect(await numbers('java')).toContain('everwarm_pool_instances{pool="java",phase="ready"} 4');
});
