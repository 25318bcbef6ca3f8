import type { ServerResponse } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { KubeObject } from '../../src/kube/api.ts';
import { type Change, createReflector, type Reflector, type Trouble } from '../../src/kube/reflector.ts';
import { createLog } from '../../src/telemetry/log.ts';
import { type LeapingClock, leapingClock, START } from './_leaping-clock.ts';
import { json, serve, status, type TestServer } from './_server.ts';
import { clientFor, deployment, deployments } from './_world.ts';

const list = (resourceVersion: string, ...items: KubeObject[]) => ({
  kind: 'DeploymentList',
  metadata: { resourceVersion },
  items,
});
const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const bookmark = (resourceVersion: string) => line('BOOKMARK', { metadata: { resourceVersion } });

type Script = (response: ServerResponse) => void;

interface World {
  readonly server: TestServer;
  readonly clock: LeapingClock;
  readonly reflector: Reflector;
  /** `changed a@2`, as they come. */
  readonly told: readonly string[];
  readonly lines: readonly string[];
  readonly troubles: readonly Trouble[];
  /** What the server was asked next: `list`, or `watch` with the place. */
  asked(): Promise<string>;
  /** Resolves when the reflector has told `count` changes. */
  hears(count: number): Promise<void>;
}

/** A reflector that follows a server whose answers are `script`'s, one a request; after them it keeps a watch open. */
async function follow(
  script: readonly Script[],
  onChange?: (change: Change<string>) => void,
): Promise<World> {
  const server = await serve((response, { query }, index) => {
    const answer = script[index];
    if (answer !== undefined) answer(response);
    else if (query.has('watch')) response.writeHead(200).flushHeaders();
    else json(response, 200, list('99'));
  });
  const clock = leapingClock();
  const told: string[] = [];
  const lines: string[] = [];
  const troubles: Trouble[] = [];
  let waiters: (() => void)[] = [];
  const reflector = createReflector<string>({
    // No deadline gets in the way when the hands are moved while an answer is still on its way.
    api: clientFor(server.url, clock, { deadlineMs: 1e9 }),
    resource: deployments,
    list: { namespace: 'ide' },
    clock,
    // Full jitter at its longest: what is waited is what is allowed.
    random: () => 0.999_999,
    log: createLog({ clock, format: 'human', write: (text) => lines.push(text) }),
    onTrouble: (trouble) => trouble && troubles.push(trouble),
    keep: (object) => `kept-${object.metadata.resourceVersion}`,
    onChange: (change) => {
      const { name, resourceVersion } = change.object.metadata;
      told.push(`${change.type} ${name}@${resourceVersion}`);
      const waiting = waiters;
      waiters = [];
      for (const wake of waiting) wake();
      onChange?.(change);
    },
  });
  const stop = new AbortController();
  const run = reflector.run(stop.signal);
  onTestFinished(async () => {
    stop.abort();
    await run;
  });
  return {
    server,
    clock,
    reflector,
    told,
    lines,
    troubles,
    async asked() {
      const { query } = await server.next();
      return query.has('watch') ? `watch ${query.get('resourceVersion')}` : 'list';
    },
    async hears(count) {
      while (told.length < count) await new Promise<void>((wake) => waiters.push(wake));
    },
  };
}

const lists =
  (resourceVersion: string, ...items: KubeObject[]): Script =>
  (response) =>
    json(response, 200, list(resourceVersion, ...items));
/** A watch that says these lines and ends. */
const says =
  (...lines: string[]): Script =>
  (response) =>
    response.writeHead(200).end(lines.join(''));
/** A watch that says these lines and stays open. */
const keepsSaying =
  (...lines: string[]): Script =>
  (response) => {
    response.writeHead(200).flushHeaders();
    response.write(lines.join(''));
  };
const fails =
  (code: number): Script =>
  (response) =>
    json(response, code, status(code, 'Reason', 'no'));

describe('a reflector', () => {
  it('tells what is there, then what changes', async () => {
    const world = await follow([
      lists('5', deployment('a', '3'), deployment('b', '4')),
      keepsSaying(
        line('MODIFIED', deployment('a', '6')),
        line('ADDED', deployment('c', '7')),
        line('DELETED', deployment('b', '8')),
      ),
    ]);
    await world.hears(5);
    expect(world.told).toEqual(['sync a@3', 'sync b@4', 'changed a@6', 'changed c@7', 'deleted b@8']);
    expect(world.reflector.lastSeenAt()).toBe(START);
  });

  it('goes on where an ended watch stopped, and takes no repetition for news', async () => {
    const world = await follow([
      lists('5', deployment('a', '3')),
      says(line('MODIFIED', deployment('a', '6')), bookmark('9')),
      keepsSaying(line('MODIFIED', deployment('a', '6')), line('MODIFIED', deployment('a', '11'))),
    ]);
    await world.hears(3);
    expect([await world.asked(), await world.asked(), await world.asked()]).toEqual([
      'list',
      'watch 5',
      'watch 9',
    ]);
    expect(world.told).toEqual(['sync a@3', 'changed a@6', 'changed a@11']);
    expect(world.clock.slept).toEqual([1_000]);
  });

  it.each([
    { title: 'as an answer', lost: fails(410) },
    { title: 'within the stream', lost: says(line('ERROR', status(410, 'Expired', 'too old'))) },
  ])(
    'that has lost its place ($title) lists again and tells of everything, and of what went meanwhile',
    async ({ lost }) => {
      const world = await follow([
        lists('5', deployment('a', '3'), deployment('b', '4'), deployment('d', '4')),
        lost,
        lists('20', deployment('a', '3'), deployment('b', '15'), deployment('c', '16')),
      ]);
      await world.hears(7);
      expect(world.told.slice(3)).toEqual(['deleted d@4', 'sync a@3', 'changed b@15', 'changed c@16']);
      // No hurry: the place was got a moment ago, so it is the server that is not well.
      expect(world.clock.slept[0]).toBe(1_000);
    },
  );

  it('sees through a name: another uid under it is a deletion and a new object', async () => {
    const again = deployment('a', '12', 'another-uid');
    const kept: unknown[] = [];
    const world = await follow([lists('5', deployment('a', '3')), fails(410), lists('20', again)], (change) =>
      kept.push(change.kept, change.before),
    );
    await world.hears(3);
    expect(world.told).toEqual(['sync a@3', 'deleted a@3', 'changed a@12']);
    expect(kept).toEqual(['kept-3', undefined, 'kept-3', 'kept-3', 'kept-12', undefined]);
  });

  it('that hears nothing for 75 seconds takes the watch for dead and opens another', async () => {
    const world = await follow([
      lists('5', deployment('a', '3')),
      keepsSaying(line('MODIFIED', deployment('a', '6'))),
    ]);
    await world.hears(2);
    await world.clock.advance(74_999);
    expect([await world.asked(), await world.asked()]).toEqual(['list', 'watch 5']);
    expect(world.server.requests).toHaveLength(2);
    await world.clock.advance(1);
    expect(await world.asked()).toBe('watch 6');
  });

  it('makes sure with a list that lasting silence means peace, and keeps quiet if it does', async () => {
    const quiet = keepsSaying();
    const world = await follow([
      lists('5', deployment('a', '3')),
      quiet,
      quiet,
      lists('5', deployment('a', '3')),
    ]);
    expect([await world.asked(), await world.asked()]).toEqual(['list', 'watch 5']);
    await world.clock.advance(75_000);
    expect(await world.asked()).toBe('watch 5');
    await world.clock.advance(75_000);
    expect([await world.asked(), await world.asked()]).toEqual(['list', 'watch 5']);
    expect(world.told).toEqual(['sync a@3']);
    expect(world.reflector.lastSeenAt()).toBe(START + 150_000);
  });

  it('never gives up, and asks ever more rarely, half a minute apart at most', async () => {
    const failures = Array.from({ length: 8 }, () => fails(500));
    const world = await follow([...failures, lists('5', deployment('a', '3'))]);
    await world.hears(1);
    const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000];
    // And a second more before the watch that follows.
    expect(world.clock.slept.slice(0, waits.length)).toEqual(waits);
    expect(world.troubles.map(({ waitMs }) => waitMs)).toEqual(waits);
    expect(world.troubles.map(({ failures }) => failures)).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
  });

  it('takes a single word for a sign that all is well again', async () => {
    const breaks: Script = (response) => {
      response.writeHead(200).write(line('MODIFIED', deployment('a', '6')), () => response.destroy());
    };
    const world = await follow([
      lists('5', deployment('a', '3')),
      fails(500),
      fails(500),
      breaks,
      keepsSaying(line('MODIFIED', deployment('a', '7'))),
    ]);
    await world.hears(3);
    expect(world.clock.slept).toEqual([1_000, 2_000, 1_000]);
  });

  it('lists again when nothing but its place can be what the server does not like', async () => {
    const world = await follow([
      lists('5'),
      ...Array.from({ length: 4 }, () => fails(500)),
      lists('20', deployment('a', '3')),
    ]);
    await world.hears(1);
    expect(world.server.requests.map(({ query }) => query.get('resourceVersion') ?? 'list')).toEqual(
      expect.arrayContaining(['list', '5', '5', '5', '5', 'list']),
    );
    expect(world.told).toEqual(['changed a@3']);
  });

  it('waits as long as an overloaded server asks, and then some', async () => {
    const busy: Script = (response) => response.writeHead(429, { 'retry-after': '7' }).end();
    const world = await follow([lists('5'), busy, keepsSaying(line('ADDED', deployment('a', '6')))]);
    await world.hears(1);
    expect(world.clock.slept).toEqual([8_000]);
  });

  it('does not ask in a loop a server that ends each watch at once', async () => {
    const ends = says();
    const world = await follow([
      lists('5'),
      ends,
      ends,
      ends,
      keepsSaying(line('ADDED', deployment('a', '6'))),
    ]);
    await world.hears(1);
    expect(world.clock.slept).toEqual([1_000, 2_000, 4_000]);
  });

  it('does not ask in a loop a server that forgets each place at once', async () => {
    const world = await follow([
      lists('5'),
      fails(410),
      lists('6'),
      fails(410),
      lists('7', deployment('a', '6')),
    ]);
    await world.hears(1);
    expect(world.clock.slept.slice(0, 3)).toEqual([1_000, 1_000, 2_000]);
  });

  it('does not ask in a loop a server that ends each watch after a word', async () => {
    const speaksAndEnds = says(bookmark('5'));
    const world = await follow([
      lists('5'),
      speaksAndEnds,
      speaksAndEnds,
      speaksAndEnds,
      keepsSaying(line('ADDED', deployment('a', '6'))),
    ]);
    await world.hears(1);
    expect(world.clock.slept).toEqual([1_000, 1_000, 1_000]);
  });

  it('goes on after an object that its reader cannot bear', async () => {
    let thrown = 0;
    const world = await follow([lists('5', deployment('a', '3'), deployment('b', '4'))], ({ object }) => {
      if (object.metadata.name !== 'a') return;
      thrown += 1;
      throw new Error('cannot bear it');
    });
    await world.hears(2);
    expect(world.told).toEqual(['sync a@3', 'sync b@4']);
    expect(thrown).toBe(1);
    expect(world.lines.join()).toContain('reflector.unreadable kind=Deployment object=ide/a');
  });

  it('of a kind that is not served says so, and begins when it is', async () => {
    const world = await follow([fails(404), lists('5', deployment('a', '3'))]);
    await world.reflector.answered;
    expect(world.told).toEqual([]);
    await world.hears(1);
    expect(world.told).toEqual(['sync a@3']);
    expect(world.reflector.isAbsent()).toBe(false);
  });
});
