import { describe, expect, it } from 'vitest';
import { openWatch, type StreamEvent, type WatchParameters } from '../../src/embedded/watch.ts';
import { type Api, CONFIG_MAPS, configMap, NAMESPACES, openApi, START, WIDGETS, widget } from './_api.ts';
import { handClock } from './_clock.ts';

interface Watched {
  readonly events: readonly StreamEvent[];
  /** `TYPE name@resourceVersion`, one an event. */
  readonly seen: readonly string[];
  ended(): boolean;
  stop(): void;
}

function watch(
  api: Api,
  parameters: Partial<WatchParameters> = {},
  clock?: ReturnType<typeof handClock>,
): Watched {
  const events: StreamEvent[] = [];
  const seen: string[] = [];
  let ended = false;
  const sink = {
    event: (event: StreamEvent) => {
      events.push(event);
      const { name = '', resourceVersion = '' } = event.object.metadata;
      seen.push(`${event.type} ${name}@${resourceVersion}`);
    },
    end: () => {
      ended = true;
    },
  };
  const time = clock === undefined ? undefined : { clock, random: () => 0 };
  const wanted = { resource: CONFIG_MAPS, namespace: 'ns', user: 'somebody', ...parameters };
  const stop = openWatch(api.store, wanted, sink, time);
  return { events, seen, ended: () => ended, stop };
}

describe('where a watch begins', () => {
  it.each([{ options: {} }, { options: { resourceVersion: '0' } }])(
    'shows what is there, by name, then what happens: %o',
    ({ options }) => {
      const api = openApi();
      api.create(CONFIG_MAPS, configMap('b'));
      api.create(CONFIG_MAPS, configMap('a'));
      const watched = watch(api, { options });
      api.merge(CONFIG_MAPS, 'b', { data: { a: '2' } });
      api.remove(CONFIG_MAPS, 'a');
      expect(watched.seen).toEqual(['ADDED a@9', 'ADDED b@8', 'MODIFIED b@10', 'DELETED a@11']);
    },
  );

  it('shows every change after a resourceVersion, in order', () => {
    const api = openApi();
    api.create(CONFIG_MAPS, configMap('a'));
    const since = String(api.store.revision());
    api.merge(CONFIG_MAPS, 'a', { data: { a: '2' } });
    api.create(WIDGETS, widget('w'));
    api.remove(CONFIG_MAPS, 'a');
    const watched = watch(api, { options: { resourceVersion: since } });
    api.create(CONFIG_MAPS, configMap('a'));
    expect(watched.seen).toEqual(['MODIFIED a@9', 'DELETED a@11', 'ADDED a@12']);
  });

  it('says nothing of the future until it comes', () => {
    const api = openApi();
    const watched = watch(api, { options: { resourceVersion: '10' } });
    for (const name of ['a', 'b', 'c', 'd']) api.create(CONFIG_MAPS, configMap(name));
    expect(watched.seen).toEqual(['ADDED d@11']);
  });

  it('is too far back when the history was forgotten, and the stream ends with that', () => {
    const api = openApi({ historyMax: 3 });
    for (const name of ['a', 'b', 'c', 'd', 'e']) api.create(CONFIG_MAPS, configMap(name));
    const late = watch(api, { options: { resourceVersion: '8' } });
    expect(late.events).toEqual([
      {
        type: 'ERROR',
        object: {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'too old resource version: 8 (9)',
          reason: 'Expired',
          code: 410,
        },
      },
    ]);
    expect(late.ended()).toBe(true);
    const early = watch(api, { options: { resourceVersion: '9' } });
    expect(early.seen).toEqual(['ADDED c@10', 'ADDED d@11', 'ADDED e@12']);
  });

  it('cannot lie before a custom kind was defined', () => {
    const watched = watch(openApi(), { resource: WIDGETS, options: { resourceVersion: '1' } });
    expect(watched.seen).toEqual(['ERROR @']);
  });
});

describe('what a watch shows', () => {
  it('is only its own namespace and kind', () => {
    const api = openApi();
    const watched = watch(api);
    api.create(CONFIG_MAPS, configMap('a'), { namespace: 'default' });
    api.create(WIDGETS, widget('w'));
    expect(watched.seen).toEqual([]);
    const all = watch(api, {
      resource: NAMESPACES,
      namespace: undefined,
    } as unknown as Partial<WatchParameters>);
    expect(all.seen).toHaveLength(5);
  });

  it('is a delete when an object leaves the selection, with its old face and the new resourceVersion', () => {
    const api = openApi();
    const watched = watch(api, { options: { labelSelector: 'app=a' } });
    api.create(CONFIG_MAPS, configMap('x', { labels: { app: 'b' } }));
    api.merge(CONFIG_MAPS, 'x', { metadata: { labels: { app: 'a' } } });
    api.merge(CONFIG_MAPS, 'x', { data: { a: '2' } });
    api.merge(CONFIG_MAPS, 'x', { metadata: { labels: { app: 'b' } } });
    api.remove(CONFIG_MAPS, 'x');
    expect(watched.seen).toEqual(['ADDED x@9', 'MODIFIED x@10', 'DELETED x@11']);
    expect(watched.events[2]?.object.metadata.labels).toEqual({ app: 'a' });
  });

  it('ends when it is stopped', () => {
    const api = openApi();
    const watched = watch(api);
    watched.stop();
    api.create(CONFIG_MAPS, configMap('a'));
    expect(watched.seen).toEqual([]);
  });
});

describe('bookmarks', () => {
  const initial = { sendInitialEvents: true, options: { resourceVersionMatch: 'NotOlderThan' } } as const;

  it('mark the end of the initial events', () => {
    const api = openApi();
    api.create(CONFIG_MAPS, configMap('a'));
    const watched = watch(api, { ...initial, allowWatchBookmarks: true });
    expect(watched.seen).toEqual(['ADDED a@8', 'BOOKMARK @8']);
    expect(watched.events[1]?.object).toEqual({
      kind: 'ConfigMap',
      apiVersion: 'v1',
      metadata: { resourceVersion: '8', annotations: { 'k8s.io/initial-events-end': 'true' } },
    });
    expect(watch(api, initial).seen).toEqual(['ADDED a@8']);
  });

  it('come after the replay at resourceVersion 0', () => {
    const watched = watch(openApi(), { allowWatchBookmarks: true, options: { resourceVersion: '0' } });
    expect(watched.seen).toEqual(['BOOKMARK @7']);
  });

  it('come every minute and before the end, if anything has happened', () => {
    const api = openApi();
    const clock = handClock(START);
    const watched = watch(api, { allowWatchBookmarks: true, timeoutSeconds: 100 }, clock);
    const quiet = watch(api, { allowWatchBookmarks: true, timeoutSeconds: 50 }, clock);
    clock.pass(55_000);
    expect(quiet.seen).toEqual([]);
    expect(quiet.ended()).toBe(true);
    api.create(WIDGETS, widget('w'));
    clock.pass(44_000);
    expect(watched.seen).toEqual(['BOOKMARK @8', 'BOOKMARK @8']);
    expect(watched.ended()).toBe(false);
    clock.pass(1_000);
    expect(watched.ended()).toBe(true);
  });
});

it('ends by itself after half an hour to an hour when nobody says when', () => {
  const clock = handClock(START);
  const watched = watch(openApi(), {}, clock);
  clock.pass(1_799_000);
  expect(watched.ended()).toBe(false);
  clock.pass(1_801_000);
  expect(watched.ended()).toBe(true);
});

it.each([
  [{ sendInitialEvents: true }, 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan'],
  [
    { options: { resourceVersionMatch: 'NotOlderThan' as const } },
    'resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
  ],
  [{ options: { resourceVersion: 'abc' } }, 'strconv.ParseUint: parsing "abc": invalid syntax'],
])('refuses %o', (parameters, message) => {
  expect(() => watch(openApi(), parameters)).toThrow(
    expect.objectContaining({ message: expect.stringContaining(message) }),
  );
});
