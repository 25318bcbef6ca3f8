import { expect } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { reconcile } from '../../../src/controller/reconcile.ts';
import type { KubeApi } from '../../../src/kube/api.ts';
import { createEducates } from '../../../src/platform/educates/educates.ts';
import type { EducatesWorld } from '../../simulator/world/educates/_world.ts';

const KEY = { cluster: 'here', platform: 'educates', namespace: 'campus-labs-ui', name: 'campus-labs' };

/** Everwarm beside a portal: a look every ten seconds, as the schedule has it, and whatever it wrote. */
export function guardOf(world: EducatesWorld) {
  const writes: string[] = [];
  const api = noting(world.api('everwarm'), writes);
  const platform = createEducates({ mode: 'guard' });
  let seed = 0;
  const look = async (): Promise<void> => {
    seed += 1;
    const deps = { api, platform, clock: world.clock, random: seededRandom(seed), report: () => {} };
    await world.through(reconcile(deps, KEY));
  };
  return {
    /** What was written on the portal's objects. */
    levers: () => writes.filter((write) => !/WarmPool|Event/.test(write)),
    run: async (ms: number): Promise<void> => {
      for (let at = 0; at < ms; at += 10_000) {
        await look();
        await world.run(10_000);
      }
    },
    /** A second look writes nothing. */
    rest: async (): Promise<void> => {
      const before = writes.length;
      await look();
      expect(writes.slice(before)).toEqual([]);
    },
  };
}

function noting(api: KubeApi, writes: string[]): KubeApi {
  return {
    ...api,
    create: (resource, namespace, body) => {
      writes.push(`create ${resource.kind}`);
      return api.create(resource, namespace, body);
    },
    patch: (resource, place, change) => {
      writes.push(`patch ${resource.kind} ${place.name}`);
      return api.patch(resource, place, change);
    },
    delete: (resource, place, options) => {
      writes.push(`delete ${resource.kind} ${place.name}`);
      return api.delete(resource, place, options);
    },
  };
}
