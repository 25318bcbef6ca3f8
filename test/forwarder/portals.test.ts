import { expect, it } from 'vitest';
import { seededRandom } from '../../src/clock.ts';
import { createNamespaces, installCrds } from '../../src/embedded/boot.ts';
import { directApi } from '../../src/embedded/direct.ts';
import { createStore } from '../../src/embedded/store.ts';
import { startForwarder } from '../../src/forwarder/main.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { createEducates } from '../../src/platform/educates/educates.ts';
import { TRAINING_PORTALS, WORKSHOP_ENVIRONMENTS, WORKSHOPS } from '../../src/platform/educates/resources.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';
import { createLog } from '../../src/telemetry/log.ts';
import type { Notice } from '../../src/transport/notice.ts';
import { edited, portal, recorded } from '../platform/educates/_portal.ts';

/** A cluster of its own with Educates' kinds, and a forwarder that serves `namespaces`. */
async function world(namespaces: readonly string[]) {
  const clock = createVirtualClock(Date.parse('2026-11-30T16:08:00Z'));
  const now = () => clock.now();
  const store = createStore({ now, random: seededRandom(1) });
  installCrds(store, 'test/fixtures/educates/crds');
  installCrds(store, [WARM_POOL_CRD]);
  createNamespaces(store, namespaces);
  const api = directApi(store, { user: 'test', now });
  const put = async (resource: typeof WORKSHOPS, object: KubeObject): Promise<void> => {
    const { uid, resourceVersion, creationTimestamp, generation, ...metadata } = object.metadata;
    const made = await api.create(resource, undefined, { ...object, metadata });
    if (made.kind !== 'ok') throw new Error(`${object.metadata.name}: ${made.message}`);
  };
  const notices: Notice[] = [];
  const lines: string[] = [];
  const forwarder = startForwarder({
    ...{ api, clock, random: seededRandom(2), clusterId: 'prod', namespaces },
    platforms: [createEducates({ mode: 'observe' })],
    send: async (notice) => notices.push(notice),
    log: createLog({ clock, format: 'human', write: (line) => lines.push(line) }),
  });
  await clock.advance(3_000);
  await forwarder.ready;
  return {
    put,
    lines,
    forwarder,
    async news() {
      await clock.advance(5_000);
      return notices.splice(0).map(({ data }) => `${data.key} ${data.object.kind}/${data.object.name}`);
    },
  };
}

it('tells of a portal in its own namespace, though its objects are seen from every one', async () => {
  const { put, news, forwarder } = await world(['campus-labs-ui', 'other-labs-ui', 'theia']);
  await put(TRAINING_PORTALS, portal());
  expect(await news()).toEqual(['prod/educates/campus-labs-ui/campus-labs TrainingPortal/campus-labs']);
  await put(WORKSHOP_ENVIRONMENTS, recorded('environment-created/1-added'));
  expect(await news()).toEqual([
    'prod/educates/campus-labs-ui/campus-labs WorkshopEnvironment/campus-labs-w04',
  ]);
  await put(TRAINING_PORTALS, edited(portal(), { metadata: { name: 'other-labs' } }));
  await news();
  await put(WORKSHOPS, recorded('workshop/lab-java-basics'));
  expect((await news()).sort()).toEqual([
    'prod/educates/campus-labs-ui/campus-labs Workshop/lab-java-basics',
    'prod/educates/other-labs-ui/other-labs Workshop/lab-java-basics',
  ]);
  await forwarder.stop();
});

it('watches nothing, and warns of nothing, where no portal can be', async () => {
  const { put, news, forwarder, lines } = await world(['theia']);
  await put(TRAINING_PORTALS, portal());
  expect(await news()).toEqual([]);
  expect(forwarder.kinds()).toEqual([]);
  expect(lines).toEqual([]);
  await forwarder.stop();
});
