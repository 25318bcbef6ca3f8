import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as Clocks from '../../src/clock.ts';
import type * as Collector from '../../src/embedded/gc.ts';
import type * as Http from '../../src/embedded/http.ts';
import type * as Namespaces from '../../src/embedded/namespaces.ts';
import type * as Runner from '../../src/embedded/runner.ts';
import type * as Stores from '../../src/embedded/store.ts';

/**
 * `node _embedded-main.ts ROOT` serves the embedded API server whose source lies in ROOT, with the controllers that
 * conformance needs. Prints where it is, and ends with its standard input.
 */
const [root = ''] = process.argv.slice(2);
const load = async (file: string): Promise<unknown> => import(pathToFileURL(join(root, 'src', file)).href);

const { seededRandom, systemClock: clock } = (await load('clock.ts')) as typeof Clocks;
const { createStore } = (await load('embedded/store.ts')) as typeof Stores;
const { serve } = (await load('embedded/http.ts')) as typeof Http;
const { runActors } = (await load('embedded/runner.ts')) as typeof Runner;
const { createGarbageCollector } = (await load('embedded/gc.ts')) as typeof Collector;
const { createNamespaceController } = (await load('embedded/namespaces.ts')) as typeof Namespaces;

const now = (): number => clock.now();
const store = createStore({ now, random: seededRandom(1) });
const actors = [createGarbageCollector(store, { now }), createNamespaceController(store, { now })];
runActors(actors, clock, store);
const [token, nobody] = ['admin-token', 'nobody-token'];
const server = await serve(store, {
  clock,
  random: seededRandom(2),
  tokens: { [token]: 'admin', [nobody]: 'nobody' },
});
process.stdout.write(`${JSON.stringify({ url: server.url, caPem: server.caPem, token, nobody })}\n`);
process.stdin.on('end', () => process.exit(0)).resume();
