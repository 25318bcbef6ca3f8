import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import { guarded, triedLongAgo, warmPool } from './_guard.ts';
import { AT_REST, edited, only, portal, recorded, workshop } from './_portal.ts';

const NUDGE = '/metadata/annotations/everwarm.dev~1nudge';
const DROPPED = '/metadata/annotations/everwarm.dev~1dropped';
const test = (resourceVersion: string) => ({
  op: 'test',
  path: '/metadata/resourceVersion',
  value: resourceVersion,
});
const entry = (name: string) => ({ name, reserved: 1, initial: 1, capacity: 2 });

const NET = 'lab-net-basics';
const STUCK: readonly KubeObject[] = only(
  entry(NET),
  edited(workshop(NET), { metadata: { uid: 'net' } }),
  edited(recorded('incident-lost-activation/1-ready-but-portal-starting'), {
    status: { educates: { workshop: { uid: 'net', generation: 1 } } },
  }),
);
const LATER = '2026-11-30T16:50:00Z';

describe('an environment that is ready and was never taken into use (the first incident)', () => {
  it('is annotated, and nothing else', async () => {
    const { actions, requests } = await guarded([...STUCK, warmPool()], LATER);
    expect(actions).toEqual([`${NET}: annotate WorkshopEnvironment campus-labs-w12`]);
    expect(requests).toEqual([
      expect.objectContaining({
        verb: 'patch',
        name: 'campus-labs-w12',
        resourceVersion: '2536',
        patch: [test('2536'), { op: 'add', path: NUDGE, value: 'this-pass' }],
      }),
    ]);
  });

  it.each([
    [1, 'annotate WorkshopEnvironment campus-labs-w12'],
    [2, 're-admit the entry'],
    [4, 're-admit the entry'],
  ])('after %i tries: %s', async (tries, remedy) => {
    const pool = warmPool([triedLongAgo(NET, 'net/1', tries)]);
    expect((await guarded([...STUCK, pool], LATER)).actions).toEqual([`${NET}: ${remedy}`]);
  });

  it('is given up after five, and told with what was tried', async () => {
    const { actions, plan } = await guarded([...STUCK, warmPool([triedLongAgo(NET, 'net/1', 5)])], LATER);
    expect(actions).toEqual([]);
    expect(plan.status.conditions.find(({ type }) => type === 'Degraded')).toMatchObject({
      reason: 'GivenUp',
      message: expect.stringMatching(
        /never taken it into use.*\(tried 5 times: annotate Work.*, re-admit the entry\)$/,
      ),
    });
  });
});

describe('an entry without an environment', () => {
  const missing = AT_REST.filter(({ metadata }) => !metadata.name.startsWith('campus-labs-w02'));
  const key = `${recorded('workshop/lab-web-ide').metadata.uid}/${recorded('workshop/lab-web-ide').metadata.generation}`;

  it('is the portal’s own to fill for 15 s; then the portal is annotated', async () => {
    const early = await guarded([...missing, warmPool()], LATER);
    expect(early.actions).toEqual([]);
    expect(early.plan.nextCheckAt).toBe(Date.parse(LATER) + 15_000);
    const { requests } = await guarded(
      [...missing, warmPool([triedLongAgo('lab-web-ide-teachers', key, 0)])],
      LATER,
    );
    expect(requests).toMatchObject([
      {
        verb: 'patch',
        resource: { kind: 'TrainingPortal' },
        name: 'campus-labs',
        patch: [test('302'), { path: NUDGE }],
      },
    ]);
  });

  it('is re-admitted when that did not help', async () => {
    const pool = warmPool([triedLongAgo('lab-web-ide-teachers', key, 2)]);
    const { requests } = await guarded([...missing, pool], LATER);
    const [request] = requests;
    expect(request).toMatchObject({
      verb: 'patch',
      patch: [test('302'), { op: 'remove', path: '/spec/workshops/1' }, { path: DROPPED }],
    });
  });
});

describe('an environment of an older Workshop', () => {
  const stale = [
    ...AT_REST.filter(({ metadata }) => metadata.name !== 'lab-java-basics'),
    recorded('workshop-updated/2-workshop'),
  ];
  const { uid, generation } = recorded('workshop-updated/2-workshop').metadata;
  const tried = (tries: number) => warmPool([triedLongAgo('lab-java-basics', `${uid}/${generation}`, tries)]);

  it('has its Workshop annotated: the portal compares, and replaces it', async () => {
    const { actions, requests } = await guarded([...stale, tried(0)], LATER);
    expect(actions).toEqual(['lab-java-basics: annotate Workshop lab-java-basics']);
    expect(requests).toMatchObject([
      { resource: { kind: 'Workshop' }, patch: [{ op: 'test' }, { op: 'add', path: NUDGE }] },
    ]);
  });

  it('is re-admitted when that did not help', async () => {
    expect((await guarded([...stale, tried(2)], LATER)).actions).toEqual([
      'lab-java-basics: re-admit the entry',
    ]);
  });

  it('stays with the portal that keeps what it has: told, and nothing is done', async () => {
    const off = [portal(undefined, { updates: { workshop: false } }), ...stale.slice(1), tried(0)];
    const { actions, plan, observation } = await guarded(off, LATER);
    expect(actions).toEqual([]);
    expect(plan.status.counts.stale).toBe(1);
    expect(observation.findings).toMatchObject([{ reason: 'Stale' }]);
    expect(plan.status.conditions.find(({ type }) => type === 'Degraded')?.status).toBe('False');
  });
});

describe('an environment that failed', () => {
  const failed = [
    ...only(
      entry('lab-data-sql'),
      recorded('environment-failed/2-workshop-corrected'),
      recorded('environment-failed/1-lab-data-sql-4s'),
    ),
  ];

  it('is re-admitted at once: its entry goes from the list into our annotation, word for word, in one write', async () => {
    const { actions, requests } = await guarded([...failed, warmPool()], LATER);
    expect(actions).toEqual(['lab-data-sql: re-admit the entry']);
    const [request] = requests;
    if (request?.verb !== 'patch') throw new Error('no patch');
    expect(request.patch).toEqual([
      test('302'),
      { op: 'remove', path: '/spec/workshops/0' },
      { op: 'add', path: DROPPED, value: expect.any(String) },
    ]);
    const [, , note] = request.patch;
    expect(JSON.parse(String(note !== undefined && 'value' in note ? note.value : ''))).toEqual({
      'lab-data-sql': {
        entry: entry('lab-data-sql'),
        at: 0,
        pass: 'this-pass',
        since: '2026-11-30T16:50:00.000Z',
        generation: 3,
      },
    });
  });

  it('is never touched when somebody may be in it', async () => {
    const session = edited(recorded('claim/2-session-allocated'), {
      metadata: { name: 'campus-labs-w07-s001' },
      spec: { environment: { name: 'campus-labs-w07' } },
    });
    const { actions, plan } = await guarded([...failed, session, warmPool()], LATER);
    expect(actions).toEqual([]);
    expect(plan.status.counts.claimed).toBe(1);
  });

  it('is never touched where our annotation holds something that cannot be read', async () => {
    const [first, ...rest] = failed;
    const odd = edited(first, { metadata: { annotations: { 'everwarm.dev/dropped': '{"lab' } } });
    const { actions, observation } = await guarded(
      [...(odd === undefined ? [] : [odd]), ...rest, warmPool()],
      LATER,
    );
    expect(actions).toEqual([]);
    expect(observation.desired.concern?.message).toContain('everwarm.dev/dropped');
  });
});

describe('an entry that was dropped', () => {
  const JAVA = { capacity: 4, initial: 2, name: 'lab-java-basics', reserved: 2 };
  const WEB = {
    alias: 'lab-web-ide-teachers',
    capacity: 3,
    expires: '90s',
    initial: 1,
    name: 'lab-web-ide',
    reserved: 1,
  };
  const note = (since: string) =>
    JSON.stringify({ 'lab-java-basics': { entry: JAVA, at: 0, pass: 'p', since, generation: 3 } });
  const dropped = (workshops: readonly unknown[], since = '2026-11-30T16:49:57Z') =>
    edited(portal(workshops), { metadata: { annotations: { 'everwarm.dev/dropped': note(since) } } });
  const others = AT_REST.slice(1);
  const draining = others.map((one) =>
    one.metadata.name === 'campus-labs-w01'
      ? edited(one, { status: { educates: { phase: 'Stopping' } } })
      : one,
  );

  it('goes back to its place when the portal has seen that it was gone', async () => {
    const { actions, requests } = await guarded([dropped([WEB]), ...draining, warmPool()], LATER);
    expect(actions).toEqual(['lab-java-basics: build']);
    expect(requests).toMatchObject([
      {
        patch: [
          test('302'),
          { op: 'add', path: '/spec/workshops/0', value: JAVA },
          { op: 'remove', path: DROPPED },
        ],
      },
    ]);
  });

  it('goes back to the end of a list that has become shorter, and to a list of its own', async () => {
    const pathOf = async (...given: Parameters<typeof dropped>) => {
      const [request] = (await guarded([dropped(...given), ...draining, warmPool()], LATER)).requests;
      return request?.verb === 'patch' ? request.patch[1]?.path : undefined;
    };
    expect(await pathOf([])).toBe('/spec/workshops/0');
  });

  it('waits while the portal has not seen it: both writes at once have no effect', async () => {
    expect((await guarded([dropped([WEB]), ...others, warmPool()], LATER)).actions).toEqual([]);
    const young = dropped([WEB], '2026-11-30T16:49:59Z');
    expect((await guarded([young, ...draining, warmPool()], LATER)).actions).toEqual([]);
  });

  it('goes back from a portal that sees nothing for two minutes, and from one that does not run', async () => {
    const old = dropped([WEB], '2026-11-30T16:47:00Z');
    expect((await guarded([old, ...others, warmPool()], LATER)).actions).toEqual(['lab-java-basics: build']);
    const dead = edited(old, { status: { educates: { phase: 'Pending' } } });
    expect((await guarded([dead, ...others, warmPool()], LATER)).actions).toEqual(['lab-java-basics: build']);
  });

  it('stays as somebody has put it back meanwhile: only the annotation goes', async () => {
    const mended = { ...JAVA, capacity: 9 };
    const { requests } = await guarded([dropped([mended, WEB]), ...others, warmPool()], LATER);
    expect(requests).toMatchObject([{ patch: [test('302'), { op: 'remove', path: DROPPED }] }]);
    expect(requests).toHaveLength(1);
  });

  it('goes back first when everything is only observed from now on', async () => {
    const leaving = edited(warmPool(), { spec: { mode: 'observe' } });
    const { actions, plan } = await guarded([dropped([WEB]), ...others, leaving], LATER);
    expect(plan.leaving).toBe(true);
    expect(actions).toEqual(['lab-java-basics: build']);
  });

  it('goes back while the pool is paused', async () => {
    const paused = edited(warmPool(), { spec: { paused: true } });
    expect((await guarded([dropped([WEB]), ...draining, paused], LATER)).actions).toEqual([
      'lab-java-basics: build',
    ]);
  });
});

describe('a person asks for another environment', () => {
  const ASKED = '2026-11-30T16:49:00Z';

  it.each([
    ['by slot', { 'everwarm.dev/refresh-lab-java-basics': ASKED }, ['lab-java-basics: re-admit the entry']],
    [
      'of the whole portal, one at a time',
      { 'everwarm.dev/refresh': ASKED },
      ['lab-web-ide-teachers: re-admit the entry'],
    ],
    ['before it was made', { 'everwarm.dev/refresh': '2026-11-30T16:00:00Z' }, []],
  ])('%s', async (_, annotations, actions) => {
    expect((await guarded([...AT_REST, warmPool([], annotations)], LATER)).actions).toEqual(actions);
  });

  it('by an annotation on the environment, with users in it: the portal lets them stay', async () => {
    const asked = AT_REST.map((one) =>
      one.metadata.name === 'campus-labs-w01'
        ? edited(one, { metadata: { annotations: { 'everwarm.dev/refresh': 'please' } } })
        : one.metadata.name === 'campus-labs-w01-s001'
          ? recorded('claim/2-session-allocated')
          : one,
    );
    const { actions, plan } = await guarded([...asked, warmPool()], LATER);
    expect(actions).toEqual(['lab-java-basics: re-admit the entry']);
    expect(plan.status.counts).toMatchObject({ ready: 2, claimed: 1 });
  });
});

describe('what nobody is in is deleted, and nothing else', () => {
  const orphan = edited(recorded('orphan-environment/1-orphan'), {
    metadata: { labels: { 'training.educates.dev/portal.uid': 'of-the-first' } },
  });

  it('an environment of a portal that is gone, by uid and version', async () => {
    const { requests } = await guarded([...AT_REST, orphan, warmPool()], LATER);
    const { uid, resourceVersion } = orphan.metadata;
    expect(requests).toEqual([
      expect.objectContaining({
        verb: 'delete',
        name: 'campus-labs-w35',
        uid,
        resourceVersion,
        propagation: 'Background',
      }),
    ]);
  });

  it('not one of a portal that stands under another name', async () => {
    const other = edited(portal([]), { metadata: { name: 'other', uid: 'of-the-first' } });
    expect((await guarded([...AT_REST, other, orphan, warmPool()], LATER)).actions).toEqual([]);
  });

  it.each([
    [
      'leaked: Stopping for two minutes',
      LATER,
      ['campus-labs-w01: delete WorkshopEnvironment campus-labs-w01'],
    ],
    ['told to stop a moment ago', '2026-11-30T16:15:30Z', []],
  ])('%s', async (_, now, actions) => {
    const old = recorded('workshop-updated/3-old-env-stopping');
    const objects = [...AT_REST.filter(({ metadata }) => !metadata.name.startsWith('campus-labs-w01')), old];
    const replaced = [
      ...objects.filter(({ metadata }) => metadata.name !== 'lab-java-basics'),
      recorded('workshop-updated/2-workshop'),
      recorded('workshop-updated/4-new-env'),
      edited(recorded('session-reserved/campus-labs-w01-s001'), {
        metadata: { name: 'n-s001' },
        spec: { environment: { name: recorded('workshop-updated/4-new-env').metadata.name } },
      }),
    ];
    // For the first minute it is the portal's own to delete.
    expect((await guarded([...replaced, warmPool()], now)).actions).toEqual([]);
    const seen = warmPool([triedLongAgo('campus-labs-w01', old.metadata.uid ?? '', 0)]);
    expect((await guarded([...replaced, seen], now)).actions).toEqual(actions);
    const user = recorded('claim/2-session-allocated');
    expect((await guarded([...replaced, user, seen], now)).actions).toEqual([]);
  });

  it('not a second environment that the portal has not let go of', async () => {
    const older = edited(recorded('workshop-updated/1-env-before'), {
      metadata: { name: 'campus-labs-w00', uid: 'older', creationTimestamp: '2026-11-30T16:08:00Z' },
    });
    expect((await guarded([...AT_REST, older, warmPool()], LATER)).actions).toEqual([]);
  });

  it('a warm session that failed, by uid and version; with any evidence of a user, none', async () => {
    const name = 'lab-bad-session';
    const session = recorded('session-failed/1-failed-reserved');
    const bad = edited(recorded('session-failed/1-environment'), {
      status: { educates: { workshop: { uid: `uid-of-${name}` } } },
    });
    const objects = only(
      { ...entry(name), reserved: 2, initial: 2 },
      workshop(name),
      bad,
      session,
      warmPool(),
    );
    const { uid, resourceVersion } = session.metadata;
    const { requests } = await guarded(objects, LATER);
    expect(requests).toEqual([
      expect.objectContaining({ verb: 'delete', name: session.metadata.name, uid, resourceVersion }),
    ]);
    const claimed = edited(session, { status: { educates: { user: 'ada' } } });
    const held = objects.map((one) => (one === session ? claimed : one));
    expect((await guarded(held, LATER)).requests).toEqual([]);
  });
});

describe('an entry that is blocked', () => {
  it.each([
    ['its Workshop does not exist', only(entry('lab-missing'))],
    ['its alias cannot be a label', only({ ...entry('lab-x'), alias: 'Java: part 1' }, workshop('lab-x'))],
  ])('%s: nothing is tried, and a person is told', async (_, objects) => {
    const { actions, plan } = await guarded([...objects, warmPool()], LATER);
    expect(actions).toEqual([]);
    expect(plan.status.waiting).toEqual([]);
    expect(plan.status.conditions.find(({ type }) => type === 'Degraded')?.status).toBe('True');
  });
});

it('a portal at rest is left alone', async () => {
  const { actions, plan } = await guarded([...AT_REST, warmPool()], LATER);
  expect(actions).toEqual([]);
  expect(plan.status.counts).toMatchObject({ desired: 2, ready: 2, current: 2, failed: 0 });
});
