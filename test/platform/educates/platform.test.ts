import { describe, expect, it } from 'vitest';
import { seededRandom } from '../../../src/clock.ts';
import { reconcile } from '../../../src/controller/reconcile.ts';
import { resync } from '../../../src/controller/resync.ts';
import type { KubeObject, Resource } from '../../../src/kube/api.ts';
import { createEducates } from '../../../src/platform/educates/educates.ts';
import { keysOf, WATCHES } from '../../../src/platform/educates/watches.ts';
import type { PoolKey } from '../../../src/pool/key.ts';
import { createVirtualClock } from '../../../src/simulator/virtual-clock.ts';
import { AT_REST, cluster, edited, found, NAMESPACE, NOW, observe, portal, recorded } from './_portal.ts';

const KEY: PoolKey = { cluster: 'here', platform: 'educates', namespace: NAMESPACE, name: 'campus-labs' };
const platform = createEducates({ mode: 'guard' });
const look = (world: ReturnType<typeof cluster>, namespace: string, name?: string) =>
  platform.observe(
    world.api,
    { cluster: 'here', namespace, ...(name === undefined ? {} : { name }) },
    { quota: false },
  );
const warmPool = (spec: object): KubeObject => ({
  apiVersion: 'everwarm.dev/v1alpha1',
  kind: 'WarmPool',
  metadata: { name: 'campus-labs', namespace: NAMESPACE, uid: 'w', resourceVersion: '1' },
  spec,
  status: { waiting: [{ slot: 'lab-java-basics', cause: 'ailing', revision: 'k', since: NOW, tries: 1 }] },
});

describe('in observe', () => {
  const ruined = [...AT_REST.slice(0, 3), recorded('entry-removed/1-env-stopping')];

  it.each([
    ['at rest', AT_REST],
    ['with everything missing', ruined],
    ['whatever its WarmPool remembers', [...AT_REST, warmPool({ mode: 'observe' })]],
  ])('nothing is written: %s', async (_, objects) => {
    // Whoever writes to this cluster fails the test.
    const { api } = cluster(objects);
    const told: unknown[] = [];
    const observing = createEducates({ mode: 'observe' });
    const clock = createVirtualClock(Date.parse(NOW));
    const deps = { api, platform: observing, clock, random: seededRandom(1) };
    await reconcile({ ...deps, report: (event) => told.push(event) }, KEY);
    expect(told).toEqual([]);
    const due: PoolKey[] = [];
    const scope = { api, platform: observing, cluster: 'here', namespace: NAMESPACE };
    expect(await resync({ ...scope, enqueue: (key) => due.push(key) })).toBe(1);
    expect(due).toEqual([]);
  });
});

describe('who asks for guard where there can be no WarmPool', () => {
  it.each(['forbidden', 'absent'] as const)('is told so, and nothing is done: WarmPools %s', async (how) => {
    const rights = { mode: 'guard' as const, [how]: ['warmpools'] };
    expect(await found(AT_REST, rights)).toEqual([
      '* ObserveOnly: mode guard was asked for, but there can be no WarmPool here: what is found is told, and nothing is repaired',
    ]);
    const { policy, desired } = await observe(AT_REST, rights);
    expect(policy.mode).toBe('observe');
    expect(desired.concern?.reason).toBe('ObserveOnly');
  });
});

describe('what it costs', () => {
  it('nothing in a namespace that no portal can have', async () => {
    const world = cluster(AT_REST);
    expect(await look(world, 'theia')).toEqual([]);
    expect(await look(world, '-ui')).toEqual([]);
    expect(await look(world, NAMESPACE, 'other')).toEqual([]);
    expect(world.asked).toEqual([]);
  });

  it('one request where Educates is not installed', async () => {
    const world = cluster([], { absent: ['trainingportals'] });
    expect(await look(world, NAMESPACE)).toEqual([]);
    expect(world.asked).toEqual(['list trainingportals']);
  });

  it('else a list of each kind, the users’ claims last, and of Secrets no more than their names', async () => {
    const world = cluster(AT_REST);
    await look(world, NAMESPACE);
    expect(world.asked).toEqual([
      ...['list trainingportals', 'list warmpools', 'list workshops', 'list workshopenvironments'],
      ...['list workshopsessions', 'list secrets (metadata)', 'list workshopallocations'],
    ]);
  });
});

describe('what may not be read', () => {
  it('is no portal to somebody who looks around, and an error to somebody who names it', async () => {
    const rights = { forbidden: ['trainingportals'] };
    expect(await look(cluster(AT_REST, rights), NAMESPACE)).toEqual([]);
    await expect(look(cluster(AT_REST, rights), NAMESPACE, 'campus-labs')).rejects.toThrow(
      'trainingportals: forbidden',
    );
  });

  it.each(['workshops', 'workshopenvironments', 'workshopsessions', 'workshopallocations'])(
    'without %s nothing is said about the portal but that',
    async (kind) => {
      const { desired, findings } = await observe(AT_REST, { forbidden: [kind] });
      expect(desired.problem).toEqual({
        reason: 'Forbidden',
        message: expect.stringContaining(`${kind}: forbidden`),
      });
      expect(findings).toEqual([]);
    },
  );

  it('neither Secrets nor WarmPools are needed', async () => {
    expect(await found(AT_REST, { forbidden: ['secrets', 'warmpools'] })).toEqual([]);
  });
});

describe('passwords', () => {
  it('are in the portal, its sessions and their annotations, and in nothing that is made of them', async () => {
    const secretive = edited(portal(), {
      spec: {
        portal: { password: 'placeholder-access', credentials: { admin: { password: 'placeholder-p' } } },
      },
      metadata: { annotations: { 'kubectl.kubernetes.io/last-applied-configuration': 'placeholder-access' } },
    });
    const objects = [
      ...[secretive, ...AT_REST.slice(1)],
      ...[
        recorded('claim/2-session-allocated'),
        recorded('claim/3-secret-user'),
        recorded('claim/3-allocation-done'),
      ],
    ];
    expect(JSON.stringify(objects)).toContain('placeholder-robot-password');
    const observation = await observe(objects);
    const details = observation.observed.instances.map(({ slot }) => observation.detailsOf?.(slot));
    expect(JSON.stringify([observation, details])).not.toContain('placeholder');
    expect(JSON.stringify(details)).toContain('campus-labs-w01-s001');
  });
});

describe('what is watched', () => {
  const resourceOf = (kind: string): Resource => {
    const found = WATCHES.find(({ resource }) => resource.kind === kind)?.resource;
    if (found === undefined) throw new Error(`${kind} is not watched`);
    return found;
  };
  const keys = (object: KubeObject) => keysOf(resourceOf(object.kind), object);

  it('is metadata alone', () => {
    expect(WATCHES.every(({ metadataOnly }) => metadataOnly)).toBe(true);
    expect(WATCHES.map(({ resource }) => resource.kind)).not.toContain('Secret');
  });

  it('concerns the portal that it is of; a Workshop, every one', () => {
    const mine = [...AT_REST, recorded('claim/3-allocation-done')].filter(({ kind }) => kind !== 'Workshop');
    expect(new Set(mine.flatMap(keys))).toEqual(new Set(['campus-labs']));
    expect(keys(recorded('workshop/lab-java-basics'))).toEqual(['*']);
    expect(
      keys(edited(recorded('environment-created/1-added'), { metadata: { labels: undefined } })),
    ).toEqual([]);
  });

  it('what kopf notes is no news; a status, which raises the generation, is, and so is an order of ours', () => {
    const { changed } = WATCHES.find(({ resource }) => resource.kind === 'WorkshopEnvironment') ?? {};
    const added = recorded('environment-created/1-added');
    const annotated = (name: string) => edited(added, { metadata: { annotations: { [name]: 'x' } } });
    expect(changed?.(annotated('kopf.zalando.org/touch-dummy'))).toBe(changed?.(added));
    for (const other of [recorded('environment-created/2-ready'), annotated('everwarm.dev/refresh')])
      expect(changed?.(other)).not.toBe(changed?.(added));
  });
});
