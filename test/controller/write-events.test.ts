import { expect, it } from 'vitest';
import type { Deed, Happening } from '../../src/controller/events.ts';
import { type Subject, writeEvents } from '../../src/controller/write-events.ts';
import { directApi } from '../../src/embedded/direct.ts';
import type { KubeApi, KubeObject } from '../../src/kube/api.ts';
import { EVENTS, openApi } from '../embedded/_api.ts';

const POOL = { apiVersion: 'everwarm.dev/v1alpha1', kind: 'WarmPool', name: 'java', uid: 'uid-pool' };
const SOURCE = { apiVersion: 'theia.cloud/v1beta11', kind: 'AppDefinition', name: 'java', uid: 'uid-source' };
const NOON = Date.parse('2026-01-05T12:00:00Z');
const SECOND = 1_000;
const always = () => true;

function replaced(...things: string[]): Deed {
  return {
    reason: 'Replaced',
    type: 'Normal',
    key: 'stale/v2',
    noun: 'slot',
    things,
    why: 'stale',
    details: [],
  };
}

function blocked(cause: string, text: string): Happening {
  return { reason: 'Blocked', type: 'Warning', key: cause, text };
}

/** A cluster with somebody who tells, and what can be read there. */
function cluster() {
  const { store, now } = openApi();
  const api = directApi(store, { user: 'everwarm', now });
  let writes = 0;
  store.onCommit(() => {
    writes += 1;
  });
  return {
    api,
    writes: () => writes,
    tell: (at: number, ...happenings: Happening[]) => writeEvents(api, subjectAt(at), happenings, always),
    told: async (): Promise<readonly string[]> => {
      const found = await api.list(EVENTS, { namespace: 'ns' });
      const items = found.kind === 'ok' ? found.value.items : [];
      return items.map(inWords).sort();
    },
  };
}

function subjectAt(now: number, objects = [POOL]): Subject {
  return { namespace: 'ns', pool: 'java', objects, now };
}

/** `Normal Replaced slot 1 x1 12:00:00-12:00:00`. */
function inWords(event: KubeObject): string {
  const time = (field: string) => String(event[field]).slice(11, 19);
  return `${event['type']} ${event['message']} x${event['count']} ${time('firstTimestamp')}-${time('lastTimestamp')}`;
}

it('an Event says what it is about, who says it and when, in the way of every Kubernetes component', async () => {
  const { api } = cluster();
  expect(await writeEvents(api, subjectAt(NOON, [SOURCE, POOL]), [replaced('1')], always)).toBeUndefined();
  const found = await api.list(EVENTS, { namespace: 'ns' });
  const items = found.kind === 'ok' ? found.value.items : [];
  expect(items).toHaveLength(2);
  expect(items.map(({ involvedObject }) => involvedObject)).toEqual(
    expect.arrayContaining([
      { ...SOURCE, namespace: 'ns' },
      { ...POOL, namespace: 'ns' },
    ]),
  );
  for (const event of items) {
    expect(event).toMatchObject({
      reason: 'Replaced',
      source: { component: 'everwarm' },
      firstTimestamp: '2026-01-05T12:00:00Z',
    });
    expect(event.metadata.name).toMatch(/^java\.[0-9a-f]{16}$/);
  }
});

it('what comes again a while later is the same Event, counted up', async () => {
  const { tell, told } = cluster();
  await tell(NOON, blocked('quota', 'Slot 9 waits'));
  await tell(NOON + 600 * SECOND, blocked('quota', 'Slots 9, 10 wait'));
  await tell(NOON + 660 * SECOND, blocked('imagePull', 'Slot 9 waits'));
  expect(await told()).toEqual([
    'Warning Slot 9 waits x1 12:11:00-12:11:00',
    'Warning Slots 9, 10 wait x2 12:00:00-12:10:00',
  ]);
});

it('what flickers is not counted at every turn, so that it costs next to no writes', async () => {
  const { tell, told, writes } = cluster();
  for (let at = 0; at < 60; at += 1) await tell(NOON + at * SECOND, blocked('quota', 'Slot 9 waits'));
  expect(writes()).toBe(6);
  expect(await told()).toEqual(['Warning Slot 9 waits x6 12:00:00-12:00:50']);
});

it('the batches of one minute are one Event that names all slots, those of the next minute another', async () => {
  const { tell, told } = cluster();
  await tell(NOON, replaced('9', '10'), replaced('8'));
  await tell(NOON + 20 * SECOND, replaced('6', '7'));
  await tell(NOON + 70 * SECOND, replaced('5'));
  expect(await told()).toEqual([
    'Normal Replaced slot 5: stale x1 12:01:10-12:01:10',
    'Normal Replaced slots 6-10: stale x2 12:00:00-12:00:20',
  ]);
});

it('however much a pass has to tell, it tells sixteen kinds of it', async () => {
  const { tell, told } = cluster();
  await tell(NOON, ...Array.from({ length: 40 }, (_, at) => blocked(`cause ${at}`, `cause ${at}`)));
  expect(await told()).toHaveLength(16);
});

it('two passes that tell the same at once leave one Event', async () => {
  const { tell, told } = cluster();
  await Promise.all([tell(NOON, replaced('9')), tell(NOON, replaced('9')), tell(NOON, replaced('9'))]);
  expect(await told()).toEqual(['Normal Replaced slot 9: stale x1 12:00:00-12:00:00']);
});

it('who is overtaken while counting up lets it be: the Event of the other stands', async () => {
  const { api, tell, told } = cluster();
  await tell(NOON, blocked('quota', 'Slot 8 waits'));
  const overtaken: KubeApi = {
    ...api,
    get: async (resource, place) => {
      const seen = await api.get(resource, place);
      await tell(NOON + 60 * SECOND, blocked('quota', 'Slot 9 waits'));
      return seen;
    },
  };
  const late = [blocked('quota', 'Slot 10 waits')];
  expect(await writeEvents(overtaken, subjectAt(NOON + 61 * SECOND), late, always)).toBeUndefined();
  expect(await told()).toEqual(['Warning Slot 9 waits x2 12:00:00-12:01:00']);
});

it('stops at the first refusal and says what it was; nothing more is asked', async () => {
  const { api } = cluster();
  let asked = 0;
  const barred: KubeApi = {
    ...api,
    create: async () => {
      asked += 1;
      return { kind: 'forbidden', message: 'events is forbidden' };
    },
  };
  const lost = await writeEvents(barred, subjectAt(NOON, [SOURCE, POOL]), [replaced('1')], always);
  expect(lost).toEqual({ kind: 'forbidden', message: 'events is forbidden' });
  expect(asked).toBe(1);
});

it('tells nothing when there is no time left', async () => {
  const { api, told } = cluster();
  let left = 1;
  const hasTime = () => left-- > 0;
  await writeEvents(api, subjectAt(NOON, [SOURCE, POOL]), [replaced('1')], hasTime);
  expect(await told()).toHaveLength(1);
});
