import type { ServerResponse } from 'node:http';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { silentKinds } from '../../src/app/liveness.ts';
import { seededRandom } from '../../src/clock.ts';
import { startForwarder } from '../../src/forwarder/main.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import type { Platform } from '../../src/platform/platform.ts';
import type { Notice } from '../../src/transport/notice.ts';
import { leapingClock, START } from '../kube/_leaping-clock.ts';
import { json, serve, status } from '../kube/_server.ts';
import { clientFor, deployments } from '../kube/_world.ts';
import { recordingLog } from '../transport/_world.ts';

/** A platform with one kind, whose objects are named after their pools. */
const platform: Pick<Platform, 'name' | 'watches' | 'keysOf'> = {
  name: 'plain',
  watches: [{ resource: deployments, metadataOnly: true, urgent: false }],
  keysOf: (_, { metadata }) => [metadata.name],
};

const named = (name: string, resourceVersion: number, uid = `uid-${name}`): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, namespace: 'ide', uid, resourceVersion: String(resourceVersion) },
});

interface Event {
  readonly type: 'ADDED' | 'MODIFIED' | 'DELETED';
  readonly object: KubeObject;
}

const line = (type: string, object: unknown) => `${JSON.stringify({ type, object })}\n`;
const bookmark = (version: number) => line('BOOKMARK', { metadata: { resourceVersion: String(version) } });
const gone = status(410, 'Expired', 'too old resource version');

type Answer = (response: ServerResponse, isWatch: boolean) => void;

/** What happens while the server misbehaves: one object changes, one is made again, one goes, one comes. */
const HISTORY: readonly Event[] = [
  { type: 'MODIFIED', object: named('java', 11) },
  { type: 'DELETED', object: named('python', 12) },
  { type: 'DELETED', object: named('rust', 13) },
  { type: 'ADDED', object: named('rust', 14, 'uid-of-another') },
  { type: 'ADDED', object: named('go', 15) },
];
const BEFORE = [named('java', 3), named('python', 4), named('rust', 5), named('ada', 6)];
const AFTER = [named('java', 11), named('rust', 14, 'uid-of-another'), named('ada', 6), named('go', 15)];

/** A forwarder on a real socket whose server answers well at first, then `times` requests by `answer`, and well again. */
async function follow(answer: Answer, times: number, random = seededRandom(1)) {
  const clock = leapingClock();
  const at: number[] = [];
  let misbehaved = 0;
  const watching = new Set<ServerResponse>();
  const server = await serve((response, { query }) => {
    at.push(clock.now());
    const isWatch = query.has('watch');
    // The first list and the first watch are those of a healthy cluster.
    if (at.length === 1) return json(response, 200, list(10, BEFORE));
    if (misbehaved < times) {
      misbehaved += 1;
      return answer(response, isWatch);
    }
    if (!isWatch) return json(response, 200, list(15, AFTER));
    response.writeHead(200).flushHeaders();
    watching.add(response);
    const since = Number(query.get('resourceVersion'));
    const missed = HISTORY.filter(({ object }) => Number(object.metadata.resourceVersion) > since);
    if (missed.length > 0) response.write(missed.map(({ type, object }) => line(type, object)).join(''));
  });
  const { log, lines } = recordingLog();
  const sent: Notice[] = [];
  const forwarder = startForwarder({
    api: clientFor(server.url, clock, { deadlineMs: 1e9 }),
    clock,
    random,
    platforms: [platform],
    clusterId: 'prod',
    namespaces: ['ide'],
    send: async (notice) => sent.push(notice),
    log,
  });
  onTestFinished(() => forwarder.stop());
  /** Lets time go by, and what is on the wire arrive, until it holds. */
  const until = async (holds: () => boolean): Promise<void> => {
    for (let steps = 0; steps < 20_000 && !holds(); steps += 1) {
      for (let turns = 0; turns < 5; turns += 1) await turn();
      await clock.advance(100);
    }
  };
  await until(() => sent.length >= BEFORE.length);
  const first = sent.splice(0).length;
  return { clock, at, sent, first, forwarder, until, lines, watching, misbehaved: () => misbehaved };
}

const list = (version: number, items: readonly KubeObject[]) => ({
  kind: 'DeploymentList',
  metadata: { resourceVersion: String(version) },
  items,
});

/** The most requests that came within one second. */
function mostInASecond(at: readonly number[]): number {
  return Math.max(...at.map((from) => at.filter((time) => time >= from && time < from + 1_000).length));
}

const hangs: Answer = (response) => void response.writeHead(200).flushHeaders();
const fails =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (response) =>
    json(response, code, status(code, 'Reason', 'no'), headers);
/** Only a watch is refused for its place; a list is well. */
const onWatch =
  (answer: Answer): Answer =>
  (response, isWatch) =>
    isWatch ? answer(response, isWatch) : json(response, 200, list(15, AFTER));
const cutOff: Answer = (response) => {
  response.writeHead(200).write(line('MODIFIED', named('java', 11)).slice(0, 40), () => response.destroy());
};

describe('the forwarder finds everything that happened while the server', () => {
  it.each<{ title: string; answer: Answer; times: number }>([
    { title: 'held the stream open and said nothing', answer: onWatch(hangs), times: 2 },
    { title: 'broke off within a line', answer: cutOff, times: 12 },
    { title: 'closed the connection without an answer', answer: (response) => response.destroy(), times: 12 },
    {
      title: 'ended each stream at once',
      answer: onWatch((response) => response.writeHead(200).end()),
      times: 20,
    },
    {
      title: 'ended each stream after a bookmark',
      answer: onWatch((response) => response.writeHead(200).end(bookmark(10))),
      times: 20,
    },
    { title: 'had forgotten the place, and said so at once', answer: onWatch(fails(410)), times: 10 },
    {
      title: 'had forgotten the place, and said so in the stream',
      answer: onWatch((response) => response.writeHead(200).end(line('ERROR', gone))),
      times: 10,
    },
    {
      title: 'forgot the place after a bookmark, over and over',
      answer: onWatch((response) => response.writeHead(200).end(bookmark(10) + line('ERROR', gone))),
      times: 20,
    },
    { title: 'answered 500', answer: fails(500), times: 15 },
    { title: 'answered 503 and no more', answer: (response) => response.writeHead(503).end(), times: 15 },
    { title: 'asked for patience', answer: fails(429, { 'retry-after': '3' }), times: 12 },
    {
      title: 'asked for patience, but not for how much',
      answer: fails(429, { 'retry-after': '0' }),
      times: 12,
    },
    { title: 'took the token for expired', answer: fails(401), times: 16 },
    {
      title: 'sent what is no JSON',
      answer: (response) => response.writeHead(200).end('<html>\n'),
      times: 12,
    },
  ])('$title, and never asks more than twice a second', async ({ answer, times }) => {
    // The least of all jitters: whatever the dice say, it is no faster than this.
    const world = await follow(answer, times, () => 0);
    expect(world.first).toBe(BEFORE.length);
    const last = () => new Map(world.sent.map(({ data }) => [data.key.split('/').at(-1), data]));
    const rust = () => world.sent.filter(({ data }) => data.key.endsWith('/rust')).at(-1)?.data;
    await world.until(() => world.misbehaved() === times);
    await world.until(() => last().has('go') && last().has('python') && rust()?.object.uid !== 'uid-rust');
    await world.clock.advance(5_000);
    const news = [...last()].map(([pool, { object }]) => `${pool} ${object.uid}@${object.resourceVersion}`);
    expect(news.filter((text) => !text.startsWith('ada')).sort()).toEqual([
      'go uid-go@15',
      'java uid-java@11',
      expect.stringMatching(/^python uid-python@(4|12)$/),
      expect.stringMatching(/^rust (uid-of-another@14|uid-rust@(5|13))$/),
    ]);
    // Without the list of the healthy beginning.
    expect(mostInASecond(world.at.slice(1))).toBeLessThanOrEqual(2);
  });
});

it('a stream of bookmarks alone is a sign of life: nothing is asked again', async () => {
  const world = await follow(hangs, 0);
  await world.until(() => world.watching.size === 1);
  const [stream] = world.watching;
  for (let minute = 1; minute <= 20; minute += 1) {
    stream?.write(bookmark(15 + minute));
    const seenAt = () => world.forwarder.kinds()[0]?.lastSeenAt;
    const before = seenAt();
    await world.until(() => seenAt() !== before);
    await world.clock.advance(60_000);
    expect(silentKinds(world.forwarder.kinds(), { now: world.clock.now(), startedAt: START })).toBe(
      undefined,
    );
  }
  expect(world.at).toHaveLength(2);
});
