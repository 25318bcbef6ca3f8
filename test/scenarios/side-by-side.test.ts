import { describe, expect, it } from 'vitest';
import type { KubeApi, Outcome } from '../../src/kube/api.ts';
import { end, open } from './_story.ts';

const INSTANCES = 20;

/** Everwarm's creates of Deployments pass through it. */
interface Gate {
  /** How many were under way at one moment, at most. */
  most: number;
  /** What comes of the next one for this slot instead. */
  fate: { readonly slot: number; readonly outcome: Outcome<never> } | undefined;
  /** How long the server takes for one. */
  pause: () => Promise<void>;
  readonly between: (api: KubeApi) => KubeApi;
}

function gate(): Gate {
  let underWay = 0;
  const self: Gate = {
    most: 0,
    fate: undefined,
    pause: async () => undefined,
    between: (api) => ({
      ...api,
      create: async (resource, namespace, body) => {
        if (resource.plural !== 'deployments') return api.create(resource, namespace, body);
        const { fate } = self;
        const { name } = (body as { metadata: { name: string } }).metadata;
        if (fate !== undefined && name.startsWith(`instance-${fate.slot}-`)) {
          self.fate = undefined;
          return fate.outcome;
        }
        underWay += 1;
        self.most = Math.max(self.most, underWay);
        await self.pause();
        const outcome = await api.create(resource, namespace, body);
        underWay -= 1;
        return outcome;
      },
    }),
  };
  return self;
}

/** A pool loses all its Deployments; resolves when it is whole again. */
async function mend(door: Gate, fate?: Gate['fate']): Promise<void> {
  const { world } = await open({ instances: INSTANCES, operatorStays: false, between: door.between });
  door.pause = () => world.clock.sleep(30);
  door.fate = fate;
  for (let slot = 1; slot <= INSTANCES; slot += 1) world.deletePart('java', slot, 'deployment');
  await end(world);
}

describe('a pool that has lost all its Deployments', () => {
  it('has them made side by side, eight at a time at most', async () => {
    const door = gate();
    await mend(door);
    expect(door.most).toBeGreaterThan(1);
    expect(door.most).toBeLessThanOrEqual(8);
  });

  it.each<Outcome<never>>([
    { kind: 'exists', message: 'deployments.apps already exists' },
    { kind: 'invalid', message: 'spec.template: Invalid value' },
    { kind: 'forbidden', message: 'exceeded quota: team' },
    { kind: 'throttled', message: 'slow down', retryAfterMs: 1_000 },
    { kind: 'unknown', message: 'the answer was lost' },
  ])('has all of them made although one is answered with $kind', async (outcome) => {
    const door = gate();
    await mend(door, { slot: 3, outcome });
    expect(door.fate).toBeUndefined();
  });
});
