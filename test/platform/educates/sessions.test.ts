import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import { AT_REST, edited, facts, found, observe, only, recorded, workshop } from './_portal.ts';

const JAVA = 'lab-java-basics';
const WARM = recorded('session-reserved/campus-labs-w01-s001');
const NAME = WARM.metadata.name;
const ALLOCATION = recorded('claim/3-allocation-done');
const withSession = (session: KubeObject, ...beside: readonly KubeObject[]) => [
  ...AT_REST.filter(({ kind, metadata }) => kind !== 'WorkshopSession' || metadata.name !== NAME),
  session,
  ...beside,
];

async function usedBy(objects: readonly KubeObject[], rights = {}): Promise<string | undefined> {
  const { observed } = await observe(objects, rights);
  return observed.instances.find(({ slot }) => slot === JAVA)?.usedBy;
}

describe('a session is a user’s by any evidence', () => {
  const phased = (phase: string) => edited(WARM, { status: { educates: { phase } } });
  const secret = (file: string) => recorded(`claim/${file}`);

  it.each([
    ['its user', edited(WARM, { status: { educates: { user: 'ada' } } }), []],
    ['phase Allocating', phased('Allocating'), []],
    ['phase Allocated', phased('Allocated'), []],
    ['a WorkshopAllocation of its name', WARM, [ALLOCATION]],
    ['a WorkshopAllocation that names it', WARM, [edited(ALLOCATION, { metadata: { name: 'another' } })]],
    ['its Secret of the user', WARM, [secret('3-secret-user')]],
    ['its Secret of the request', WARM, [secret('3-secret-request')]],
    [
      'an owner noted by Everwarm',
      edited(WARM, { metadata: { annotations: { 'everwarm.dev/owner': 'ada' } } }),
      [],
    ],
    ['all of it, as over REST', recorded('claim/2-session-allocated'), [ALLOCATION]],
  ])('%s', async (_, session, beside) => {
    expect(await usedBy(withSession(session, ...beside))).toBe(NAME);
    expect(await facts(JAVA, withSession(session, ...beside))).toContain(`${NAME} is CLAIMED`);
  });

  it.each(['Available', 'Pending'])('phase %s says nothing', async (phase) => {
    expect(await usedBy(withSession(phased(phase)))).toBeUndefined();
    expect(await facts(JAVA, withSession(phased(phase)))).toContain(`${NAME} is WARM`);
  });

  it('also where the portal lost its write, and the phase says Available under a live user', async () => {
    const session = recorded('status-write-conflict/3-browser-claim-lost-write');
    const objects = withSession(session, recorded('status-write-conflict/3-browser-claim-allocation'));
    expect(await usedBy(objects)).toBe('campus-labs-w01-s008');
    expect(await usedBy(withSession(session))).toBeUndefined();
  });

  it('and Secrets that may not be read take nothing from what the rest says', async () => {
    const objects = withSession(WARM, recorded('claim/3-secret-user'));
    expect(await usedBy(objects, { forbidden: ['secrets'] })).toBeUndefined();
    expect(await usedBy([...objects, ALLOCATION], { forbidden: ['secrets'] })).toBe(NAME);
  });

  it('of an environment with several users the first is named, and how many more', async () => {
    const another = edited(WARM, { metadata: { name: 'campus-labs-w01-s007', uid: 's7' } });
    expect(
      await usedBy(
        withSession(
          recorded('claim/2-session-allocated'),
          another,
          edited(another, {
            metadata: { name: 'campus-labs-w01-s005', uid: 's5' },
            status: { educates: { user: 'ben' } },
          }),
        ),
      ),
    ).toBe(`${NAME} and 1 more`);
  });
});

describe('a warm session that is none', () => {
  const given = (name: string, ...objects: readonly KubeObject[]) =>
    only({ name, reserved: 1, initial: 1, capacity: 3 }, workshop(name), ...objects);
  const environment = (name: string, of: string) =>
    edited(recorded('session-failed/1-environment'), {
      metadata: { name, uid: name, labels: { 'training.educates.dev/portal.workshop': of } },
      spec: { workshop: { name: of } },
      status: { educates: { workshop: { uid: `uid-of-${of}` } } },
    });
  const BAD = environment('campus-labs-w36', 'lab-bad-session');

  it('Failed, with its cause', async () => {
    const objects = given('lab-bad-session', BAD, recorded('session-failed/1-failed-reserved'));
    expect(await found(objects, { now: '2026-11-30T16:39:20Z' })).toEqual([
      expect.stringMatching(
        /^lab-bad-session SessionBroken: WorkshopSession campus-labs-w36-s002 is Failed and has no url: .*own-db/,
      ),
    ]);
    const { observed } = await observe(objects, { now: '2026-11-30T16:39:20Z' });
    expect(observed.instances[0]).toMatchObject({
      phase: 'pending',
      ailment: { message: expect.stringContaining('own-db') },
    });
  });

  it('Pending for good: warming at first, broken after two minutes', async () => {
    const stuck = recorded('session-namespace-exists/1-stuck-pending');
    const objects = given('lab-kill', environment('campus-labs-w32', 'lab-kill'), stuck);
    expect(await found(objects, { now: '2026-11-30T16:42:00Z' })).toEqual([]);
    expect(await facts('lab-kill', objects, { now: '2026-11-30T16:42:00Z' })).toContain(
      'campus-labs-w32-s002 is WARMING',
    );
    expect(await found(objects, { now: '2026-11-30T16:44:00Z' })).toEqual([
      expect.stringMatching(
        /^lab-kill SessionBroken: WorkshopSession campus-labs-w32-s002 is Pending and has no url/,
      ),
    ]);
  });

  it('without url and without phase', async () => {
    const bare = edited(WARM, { status: undefined });
    expect(await found(withSession(bare))).toEqual([]);
    expect(await found(withSession(bare), { now: '2026-11-30T16:12:00Z' })).toEqual([
      `${JAVA} SessionBroken: WorkshopSession ${NAME} is without a phase and has no url`,
    ]);
  });

  it('Pending with a url is fine: readiness is the url', async () => {
    const built = edited(recorded('session-pending/4-built-phase-still-pending'), {
      status: { educates: { user: undefined } },
    });
    const objects = given('lab-secret', environment('campus-labs-w37', 'lab-secret'), built);
    expect(await found(objects, { now: '2026-11-30T16:50:00Z' })).toEqual([]);
    expect(await facts('lab-secret', objects)).toContain('campus-labs-w37-s001 is WARM: it has a url');
  });

  it('beside another warm one the environment stays ready', async () => {
    const failed = edited(WARM, {
      metadata: { name: 'campus-labs-w01-s009', uid: 's9' },
      status: { educates: { phase: 'Failed', url: undefined } },
    });
    const { observed } = await observe([...AT_REST, failed]);
    expect(observed.instances[0]).toMatchObject({ slot: JAVA, phase: 'ready' });
    expect(await found([...AT_REST, failed])).toHaveLength(1);
  });

  it('a user who was given one is told of, and the session is a user’s', async () => {
    const claimed = recorded('session-pending/3-claimed-phase-pending');
    const failed = recorded('session-pending/3-allocation-failed');
    const objects = given('lab-secret', environment('campus-labs-w37', 'lab-secret'), claimed, failed);
    const findings = await found(objects, { now: '2026-11-30T16:41:10Z' });
    expect(findings).toEqual([
      expect.stringMatching(
        /^lab-secret UserWithoutSession: WorkshopSession campus-labs-w37-s001 is a user's and has no url/,
      ),
      expect.stringMatching(
        /^\* AllocationFailed: WorkshopAllocation campus-labs-w37-s001 failed: its user is without/,
      ),
    ]);
  });

  it('one whose environment was deleted by hand is made and collected again and again', async () => {
    const stray = edited(WARM, {
      metadata: { name: 'campus-labs-w27-s009', uid: 's9' },
      spec: { environment: { name: 'campus-labs-w27' } },
    });
    expect(await found([...AT_REST, stray])).toEqual([
      expect.stringMatching(/^\* OrphanedSession: .*campus-labs-w27 is gone/),
    ]);
  });
});
