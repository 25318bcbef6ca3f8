import { expect, it } from 'vitest';
import { HTTP_ROUTES, SERVICES, SESSIONS } from '../../../src/platform/theia-cloud/resources.ts';
import type { World } from '../../../src/simulator/world.ts';
import { condition, message } from '../_story.ts';
import { comes, complaintsOf, flawsIn, POOL, play, sleepsThrough, slotOf } from './_fault.ts';

const LSP = { name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000 };
const ROUTE = 'ide-instances-route';

/** What Everwarm cannot put right, it names: the object, and what a person can do. */
const REPORTED: readonly {
  readonly title: string;
  readonly pool?: Readonly<Record<string, unknown>>;
  readonly story: (world: World) => Promise<void>;
  readonly reason: string;
  readonly says: readonly RegExp[];
}[] = [
  {
    title: 'F9: a Session that failed holds its slot until somebody deletes it',
    story: async (world) => {
      world.deletePart(POOL, 1, 'deployment');
      world.claim(POOL, 'ada');
      await world.run(60_000);
    },
    reason: 'FailedClaim',
    says: [/slot 1/, /ada/, /Failed to complete session setup/, /delete the Session/],
  },
  {
    title: 'F10: a Session that a restart of the operator interrupted stays in ERROR',
    story: async (world) => {
      const before = world.slot(POOL, 1).claimable;
      world.claim(POOL, 'ada');
      await world.runUntil(() => world.slot(POOL, 1).claimable !== before);
      await world.stopOperator();
      await world.run(10_000);
      await world.startOperator();
      await world.run(60_000);
    },
    reason: 'FailedClaim',
    says: [/slot 1/, /ada/, /interrupted/],
  },
  {
    title: 'F5: two Sessions that own one slot are named, both',
    story: async (world) => {
      await comes(world, 'ada');
      await comes(world, 'ben');
      const ben = world.session('ben');
      const service = world.part(POOL, 1, 'internalService');
      const owner = {
        apiVersion: 'theia.cloud/v1beta8',
        kind: 'Session',
        name: 'ben',
        uid: ben?.metadata.uid,
      };
      const ownerReferences = [...(service?.metadata.ownerReferences ?? []), owner];
      world.cluster.admin.merge(SERVICES, service?.metadata.name ?? '', { metadata: { ownerReferences } });
      await world.run(60_000);
    },
    reason: 'SplitClaim',
    says: [/slot 1/, /ada and ben/],
  },
  {
    title: 'F25: a pool without the shared route is not served by the operator',
    story: async (world) => {
      const { metadata } = world.cluster.admin.find(HTTP_ROUTES, ROUTE) ?? { metadata: { name: ROUTE } };
      world.cluster.admin.remove(HTTP_ROUTES, metadata.name);
      await world.run(90_000);
    },
    reason: 'SharedRouteMissing',
    says: [new RegExp(ROUTE)],
  },
  {
    title: 'F33: of two sidecars whose names are cut to the same one, one is never made',
    pool: {
      sidecars: [
        { ...LSP, name: 'language-server-a' },
        { ...LSP, name: 'language-server-b', image: 'registry.example.org/ide/lsp:2' },
      ],
    },
    story: (world) => world.run(60_000),
    reason: 'SidecarNamesCollide',
    says: [/language-server-a/, /language-server-b/],
  },
  {
    title: 'F34: of two definitions with one spec.name, whose instances would share their pods, both rest',
    story: async (world) => {
      world.createPool('java-twin', { name: POOL, minInstances: 2 });
      await world.run(60_000);
    },
    reason: 'InvalidDefinition',
    says: [/java-twin/],
  },
  {
    title: 'F37: the last AppDefinition took the shared route along, and the next one has none',
    story: async (world) => {
      world.deletePool(POOL);
      await world.run(10_000);
      world.createPool(POOL, { minInstances: 2 });
      await world.run(90_000);
    },
    reason: 'SharedRouteMissing',
    says: [new RegExp(ROUTE)],
  },
  {
    title: 'N4: a sidecar that comes first in the alphabet would be handed out in place of the IDE',
    pool: { sidecars: [{ ...LSP, name: 'gopls' }] },
    story: (world) => world.run(60_000),
    reason: 'SidecarSortsFirst',
    says: [/gopls/],
  },
  {
    title: 'N6: somebody else has the name of an instance',
    story: async (world) => {
      const standing = world.part(POOL, 3, 'externalService')?.metadata.name ?? '';
      const name = standing.replace('instance-3-', 'instance-4-');
      await sleepsThrough(world, () => {
        const spec = { ports: [{ port: 1 }] };
        world.cluster.admin.create(SERVICES, { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec });
        world.changePool(POOL, { minInstances: 4 });
      });
      await world.run(60_000);
    },
    reason: 'ForeignObject',
    says: [/Service\/instance-4-/],
  },
];

it.each(REPORTED)('$title', async ({ pool, story, reason, says }) => {
  const { world } = await play(
    { title: '', faults: [], ...(pool && { pool }), story, harm: () => [] },
    'everwarm',
  );
  expect(condition(world, 'Degraded', POOL)).toBe(`True ${reason}`);
  for (const text of says) expect(message(world, 'Degraded', POOL)).toMatch(text);
  expect(world.violations).toEqual([]);
});

it('F42: a name that Kubernetes refuses for a Deployment is told, and the other pools are served', async () => {
  const story = async (world: World): Promise<void> => {
    world.createPool('course', { name: 'java_Under' });
    world.deletePart(POOL, 2, 'deployment');
    await world.run(60_000);
  };
  const { world } = await play({ title: '', faults: [], story, harm: () => [] }, 'everwarm');
  expect(condition(world, 'Degraded', 'course')).toBe('True InvalidDefinition');
  expect(message(world, 'Degraded', 'course')).toMatch(/spec\.name/);
  expect(flawsIn(world)).toEqual([]);
});

it('F28: a claim that was cut off before it was noted leaves nothing behind once its Session is deleted', async () => {
  const story = async (world: World): Promise<void> => {
    world.claim(POOL, 'ada');
    await world.runUntil(() => !world.slot(POOL, 1).claimable);
    await world.stopOperator();
    expect(world.session('ada')?.metadata.annotations).toBeUndefined();
    await world.run(10_000);
    await world.startOperator();
    await world.run(30_000);
    world.release('ada');
    await world.run(60_000);
  };
  const { world } = await play({ title: '', faults: [], story, harm: () => [] }, 'everwarm');
  expect(flawsIn(world)).toEqual([]);
  expect(slotOf(world, await comes(world, 'ben'))).toBe(1);
  expect(complaintsOf(world, 'ben')).toEqual([]);
});

it('F9: what a failed Session held is whole again once it is deleted, and nobody was told to wait longer', async () => {
  const story = async (world: World): Promise<void> => {
    world.deletePart(POOL, 1, 'deployment');
    world.claim(POOL, 'ada');
    await world.run(60_000);
    world.cluster.admin.remove(SESSIONS, 'ada');
    await world.run(60_000);
  };
  const { world } = await play({ title: '', faults: [], story, harm: () => [] }, 'everwarm');
  expect(flawsIn(world)).toEqual([]);
  expect(condition(world, 'Degraded', POOL)).toBe('False AsExpected');
});
