import type { FunctionConfig } from '../../config.ts';
import { TerminalError } from '../../errors.ts';
import { formatKey } from '../../pool/key.ts';
import type { Bus } from '../../transport/bus.ts';
import type { Queue } from '../../transport/queue.ts';
import { instanceView } from '../instance-view.ts';
import { lookAtPools, type PoolLook } from '../look.ts';
import { type PoolName, parsePoolName } from '../names.ts';
import { planView } from '../plan-view.ts';
import { poolView } from '../pool-view.ts';
import { openBus, openRegistry } from './clients.ts';
import { busEventOf } from './outcomes.ts';
import { createPasses } from './passes.ts';
import type { ClusterRegistry, ServedPlatform } from './registry.ts';
import type { Runtime } from './runtime.ts';
import { openSqsQueue } from './sqs.ts';

/** What a person may ask for by hand. Without `pool`, of all pools. */
export interface Order {
  readonly action: 'plan' | 'reconcile' | 'status' | 'explain';
  readonly pool?: string | undefined;
  readonly all?: boolean | undefined;
}

/** What they are told. */
export interface Answer {
  readonly action: Order['action'];
  readonly pools: readonly unknown[];
  /** Clusters that could not be read; the others are answered for all the same. */
  readonly unreadable: readonly { readonly cluster: string; readonly cause: string }[];
}

interface Deps {
  readonly registry: ClusterRegistry;
  readonly queue: Queue;
  readonly bus: Bus;
  readonly runtime: Runtime;
  readonly remainingMs: () => number;
}

/** Less than this, and a pass waits in the queue for a function that has all its time. */
const PASS_MS_MIN = 15_000;

/**
 * Carries out what a person asks for, by the same code as everything else. Rejects with TerminalError when it cannot be
 * understood: a pool that is named and not there, a pass over all pools that was not asked for with `all`.
 */
export function createInvoke(
  config: Omit<FunctionConfig, 'stage'>,
  runtime: Runtime,
): (order: Order, remainingMs: () => number) => Promise<Answer> {
  const registry = openRegistry(config, runtime);
  const queue = openSqsQueue(config, runtime);
  const bus = openBus(config, runtime);
  return async (order, remainingMs) => {
    const name = nameIn(order);
    const { looks, unreadable } = await lookEverywhere(registry, name);
    if (looks.length === 0 && unreadable.length === 0 && name !== undefined)
      throw new TerminalError(`there is no pool ${order.pool}`);
    const pools = await answerFor(order, looks, { registry, queue, bus, runtime, remainingMs });
    return { action: order.action, pools, unreadable };
  };
}

function nameIn({ action, pool, all }: Order): PoolName | undefined {
  if (pool === undefined) {
    if (action === 'reconcile' && all !== true) throw new TerminalError('say which pool, or "all": true');
    return undefined;
  }
  if (all === true) throw new TerminalError('say a pool or "all": true, not both');
  const read = parsePoolName(pool);
  if ('problem' in read) throw new TerminalError(read.problem);
  return read.name;
}

async function answerFor(
  { action }: Order,
  looks: readonly PoolLook[],
  deps: Deps,
): Promise<readonly unknown[]> {
  switch (action) {
    case 'plan':
      return looks.map(planView);
    case 'status':
      return looks.map(poolView);
    case 'explain':
      return looks.map((look) => ({
        pool: formatKey(look.observation.key),
        instances: look.observation.observed.instances.map((instance) => instanceView(look, instance)),
      }));
    case 'reconcile':
      return await Promise.all(looks.map((look) => passOver(look, deps)));
  }
}

/** One pass, now, or by the queue when there is no time for it. */
async function passOver({ observation, plan }: PoolLook, deps: Deps): Promise<unknown> {
  const { queue, runtime, remainingMs } = deps;
  const { key, policy } = observation;
  const pool = formatKey(key);
  if (policy.mode === 'observe' && !plan.leaving)
    return { pool, refused: 'it is in mode observe: set spec.mode of its WarmPool to guard first' };
  if (remainingMs() < PASS_MS_MIN) {
    await queue.add(key, { reason: 'manual', observedAt: runtime.clock.now() });
    return { pool, enqueued: true };
  }
  try {
    const { requeueAfterMs, outcomes } = await createPasses({ ...deps, keys: [key] })(key);
    if (requeueAfterMs !== undefined) await queue.addAfter(key, requeueAfterMs);
    return { pool, requeueAfterMs, outcomes: outcomes.map(busEventOf) };
  } catch (error) {
    return { pool, failed: error instanceof Error ? error.message : 'unknown' };
  }
}

async function lookEverywhere({ served }: ClusterRegistry, name: PoolName | undefined) {
  const wanted = served.filter(({ id }) => name?.cluster === undefined || name.cluster === id);
  const looks: PoolLook[] = [];
  const unreadable: { cluster: string; cause: string }[] = [];
  const results = await Promise.all(wanted.map((one) => look(one, name)));
  for (const result of results) {
    if ('cause' in result) unreadable.push(result);
    else looks.push(...result.looks);
  }
  return { looks, unreadable };
}

async function look(
  served: ServedPlatform,
  name: PoolName | undefined,
): Promise<{ readonly looks: readonly PoolLook[] } | { readonly cluster: string; readonly cause: string }> {
  try {
    const api = await served.api();
    const namespaces =
      name?.namespace === undefined
        ? served.namespaces
        : served.namespaces.filter((namespace) => namespace === name.namespace);
    const looks: PoolLook[] = [];
    for (const namespace of namespaces) {
      const selection = name === undefined ? 'all' : { ...name, namespace };
      looks.push(...(await lookAtPools({ ...served, api, namespaces: [namespace] }, selection)));
    }
    return { looks };
  } catch (error) {
    return { cluster: served.id, cause: error instanceof Error ? error.message : 'unknown' };
  }
}
