import { expect, it } from 'vitest';
import { createEventExpiry } from '../../src/embedded/expiry.ts';
import { EVENTS, openApi } from './_api.ts';
import { runFor } from './_clock.ts';

const MINUTE = 60_000;

function event(name: string) {
  return {
    apiVersion: 'v1',
    kind: 'Event',
    metadata: { name },
    involvedObject: { kind: 'ConfigMap', name: 'a', namespace: 'ns' },
    count: 1,
  };
}

it('an Event goes an hour after it was written last, also one that stood before', () => {
  const api = openApi();
  api.create(EVENTS, event('early'));
  const actors = [createEventExpiry(api.store, { now: () => api.now() })];
  runFor(api, actors, 30 * MINUTE);
  api.create(EVENTS, event('late'));
  runFor(api, actors, 30 * MINUTE);
  expect(api.get(EVENTS, 'early').code).toBe(404);
  expect(api.get(EVENTS, 'late').code).toBe(200);
  runFor(api, actors, 30 * MINUTE);
  expect(api.get(EVENTS, 'late').code).toBe(404);
});

it('a write on an Event gives it another hour', () => {
  const api = openApi();
  const actors = [createEventExpiry(api.store, { now: () => api.now() })];
  api.create(EVENTS, event('told'));
  runFor(api, actors, 50 * MINUTE);
  api.merge(EVENTS, 'told', { count: 2 });
  runFor(api, actors, 59 * MINUTE);
  expect(api.get(EVENTS, 'told').code).toBe(200);
  runFor(api, actors, MINUTE);
  expect(api.get(EVENTS, 'told').code).toBe(404);
});

it('one that somebody deleted and made again has its whole hour', () => {
  const api = openApi();
  const actors = [createEventExpiry(api.store, { now: () => api.now() })];
  api.create(EVENTS, event('told'));
  runFor(api, actors, 50 * MINUTE);
  api.remove(EVENTS, 'told');
  api.create(EVENTS, event('told'));
  runFor(api, actors, 50 * MINUTE);
  expect(api.get(EVENTS, 'told').code).toBe(200);
});
