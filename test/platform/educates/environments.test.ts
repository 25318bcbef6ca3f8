import { describe, expect, it } from 'vitest';
import type { Instance } from '../../../src/pool/types.ts';
import { AT_REST, edited, facts, found, observe, only, portal, recorded, workshop } from './_portal.ts';

const NET = 'lab-net-basics';
const NET_WORKSHOP = workshop(NET, 1, 'd22e3d77-08b0-43f0-8216-77738f2cf1c0');
const STUCK = recorded('incident-lost-activation/1-ready-but-portal-starting');
const TWO_MINUTES_ON = { now: '2026-11-30T16:28:00Z' };

const slotsOf = async (...given: Parameters<typeof observe>) =>
  (await observe(...given)).observed.instances.map(
    ({ slot, phase, target, drift, usedBy, trouble, ailment }: Instance) => ({
      slot,
      phase,
      ...(target ? {} : { target }),
      ...(drift.length === 0 ? {} : { drift }),
      ...(usedBy === undefined ? {} : { usedBy }),
      ...(trouble === undefined ? {} : { trouble: trouble.message }),
      ...(ailment === undefined || target ? {} : { levers: ailment.remedies.map(({ name }) => name) }),
    }),
  );

describe('a portal at rest', () => {
  it('has its entries for slots, all ready, and nothing is found', async () => {
    expect(await slotsOf(AT_REST)).toEqual([
      { slot: 'lab-java-basics', phase: 'ready' },
      { slot: 'lab-web-ide-teachers', phase: 'ready' },
    ]);
    expect(await found(AT_REST)).toEqual([]);
    expect(await facts('lab-java-basics', AT_REST)).toContain(
      'its environment is RUNNING: phase Running, made from generation 1 of Workshop lab-java-basics',
    );
  });

  it('is a pool of the namespace that it runs in', async () => {
    const { key, policy, source } = await observe(AT_REST);
    expect(key).toEqual({
      cluster: 'here',
      platform: 'educates',
      namespace: 'campus-labs-ui',
      name: 'campus-labs',
    });
    expect(policy.mode).toBe('observe');
    expect(source).toMatchObject({ kind: 'TrainingPortal', name: 'campus-labs' });
  });
});

describe('an environment that is ready and was never taken into use (the first incident)', () => {
  const entry = { name: NET, reserved: 1, initial: 1, capacity: 2 };

  it('is found, whatever its own phase says', async () => {
    const objects = only(entry, NET_WORKSHOP, STUCK);
    expect(await found(objects, TWO_MINUTES_ON)).toEqual([
      `${NET} NeverActivated: WorkshopEnvironment campus-labs-w12 is ready, and the portal has never taken it into use: made at 2026-11-30T16:25:58Z, it has no session, where 1 should be warm`,
    ]);
    expect(await slotsOf(objects, TWO_MINUTES_ON)).toMatchObject([{ phase: 'pending' }]);
    expect(await facts(NET, objects, TWO_MINUTES_ON)).toContain('its environment is STARTING: phase Running');
    expect((await observe(objects, TWO_MINUTES_ON)).desired.concern?.reason).toBe('NeverActivated');
  });

  it('is fine again with its first session', async () => {
    const session = recorded('incident-lost-activation/3-first-session');
    expect(await found(only(entry, NET_WORKSHOP, STUCK, session), TWO_MINUTES_ON)).toEqual([]);
  });

  it.each([
    ['no session is wanted until somebody asks', { ...entry, initial: 0 }, {}],
    ['none is wanted at all', { ...entry, reserved: 0 }, {}],
    ['it was made a moment ago', entry, { now: '2026-11-30T16:26:30Z' }],
  ])('is not taken for one where %s', async (_, given, at) => {
    expect(await found(only(given, NET_WORKSHOP, STUCK), { ...TWO_MINUTES_ON, ...at })).toEqual([]);
  });

  it('is not taken for one that began with none', async () => {
    const none = edited(STUCK, { status: { educates: { initial: 0 } } });
    expect(await found(only(entry, NET_WORKSHOP, none), TWO_MINUTES_ON)).toEqual([]);
  });

  it('is not taken for one where the portal is full', async () => {
    const full = portal([...[entry], { name: 'lab-java-basics' }], { sessions: { maximum: 1 } });
    const java = [AT_REST[1], AT_REST[3], AT_REST[4]].flatMap((one) => one ?? []);
    expect(await found([full, NET_WORKSHOP, STUCK, ...java], TWO_MINUTES_ON)).toEqual([]);
  });

  it('is not taken for one that somebody wrote a moment ago', async () => {
    const fresh = edited(STUCK, {
      metadata: { managedFields: [{ manager: 'kopf', time: '2026-11-30T16:27:55Z' }] },
    });
    expect(await found(only(entry, NET_WORKSHOP, fresh), TWO_MINUTES_ON)).toEqual([]);
  });
});

describe('an environment that does not come to be', () => {
  const entry = (name: string) => ({ name, reserved: 1, initial: 1, capacity: 2 });
  const broken = (name: string, file: string) => only(entry(name), workshop(name), recorded(file));
  const LATER = { now: '2026-11-30T16:50:00Z' };

  it('Failed is told with its cause, and stays so though its Workshop was corrected', async () => {
    const objects = only(
      entry('lab-data-sql'),
      recorded('environment-failed/2-workshop-corrected'),
      recorded('environment-failed/1-lab-data-sql-4s'),
    );
    expect(await found(objects)).toEqual([
      expect.stringMatching(
        /^lab-data-sql EnvironmentFailed: .*campus-labs-w07 is Failed: .*object shared-db of type Database/,
      ),
    ]);
    expect(await slotsOf(objects)).toMatchObject([{ phase: 'pending' }]);
  });

  it('Unknown is told with its cause', async () => {
    expect(await found(broken('lab-kill-env', 'environment-unknown/1-unknown'), LATER)).toEqual([
      expect.stringMatching(
        /^lab-kill-env EnvironmentFailed: .*campus-labs-w38 is Unknown: .*unexpected state/,
      ),
    ]);
  });

  it('starting is not broken, but starting for ten minutes is', async () => {
    const objects = broken('lab-missing', 'environment-failed/1-lab-missing-4s');
    expect(await found(objects, { now: '2026-11-30T16:22:11Z' })).toEqual([]);
    expect(await slotsOf(objects, { now: '2026-11-30T16:22:11Z' })).toEqual([
      { slot: 'lab-missing', phase: 'pending' },
    ]);
    expect(await found(objects, { now: '2026-11-30T16:32:11Z' })).toEqual([
      expect.stringContaining('EnvironmentStuck: WorkshopEnvironment campus-labs-w08 does not get ready'),
    ]);
  });

  it('the cause is shown although only kopf’s annotation has it', async () => {
    const objects = broken('lab-no-session', 'environment-failed/1-lab-no-session-4s');
    expect(await facts('lab-no-session', objects, { now: '2026-11-30T16:22:11Z' })).toContain(
      "session-manager says: 'session'",
    );
    expect(await found(objects, LATER)).toEqual([expect.stringMatching(/does not get ready.*: 'session'$/)]);
  });

  it('one that was never made is missing', async () => {
    const objects = only(entry(NET), NET_WORKSHOP);
    expect(await slotsOf(objects)).toEqual([{ slot: NET, phase: 'missing' }]);
    expect(await found(objects)).toEqual([
      `${NET} EnvironmentMissing: there is no WorkshopEnvironment for "${NET}": the portal has not made one`,
    ]);
    const made = recorded('lever-annotate-portal/missing-environment-created');
    const now = { now: '2026-11-30T16:38:12Z' };
    const changed = workshop(NET, 2, 'd22e3d77-08b0-43f0-8216-77738f2cf1c0');
    expect(await found(only(entry(NET), changed, made), now)).toEqual([]);
  });
});

describe('a Workshop that was changed', () => {
  const changed = (updates: boolean) => [
    portal([{ name: 'lab-java-basics' }, { name: 'lab-java-basics', alias: 'again' }], {
      updates: { workshop: updates },
    }),
    recorded('workshop-updated/2-workshop'),
    recorded('workshop-updated/1-env-before'),
    recorded('session-reserved/campus-labs-w01-s001'),
    edited(recorded('workshop-updated/1-env-before'), {
      metadata: {
        name: 'campus-labs-w00',
        uid: 'second',
        labels: { 'training.educates.dev/portal.workshop': 'again' },
      },
      status: { educates: { initial: 0 } },
    }),
  ];

  it('makes the environments stale that are pinned to the old one, under each alias', async () => {
    const findings = await found(changed(true));
    expect(findings).toEqual([
      'lab-java-basics Stale: WorkshopEnvironment campus-labs-w01: workshop: made from generation 1, it is 2 now, and the portal has not replaced it',
      expect.stringMatching(/^again Stale: WorkshopEnvironment campus-labs-w00: /),
    ]);
    expect(await slotsOf(changed(true))).toMatchObject([
      { slot: 'lab-java-basics', phase: 'ready', drift: ['workshop: made from generation 1, it is 2 now'] },
      { slot: 'again', phase: 'ready', drift: [expect.any(String)] },
    ]);
    expect(await facts('again', changed(true))).toContain('its environment is STALE');
  });

  it('is told and nobody’s fault where the portal is not to follow it', async () => {
    const { desired } = await observe(changed(false));
    expect(desired.concern).toBeUndefined();
    expect(await found(changed(false))).toEqual([
      expect.stringContaining('the portal keeps it, for spec.portal.updates.workshop is off'),
      expect.stringContaining('the portal keeps it'),
    ]);
    expect(await slotsOf(changed(false))).toMatchObject([
      { drift: [expect.any(String)] },
      { drift: [expect.any(String)] },
    ]);
    expect(await facts('again', changed(false))).toContain('its environment is RUNNING');
  });

  it('is also one that was deleted and made anew', async () => {
    const objects = AT_REST.map((one) =>
      one.kind === 'Workshop' && one.metadata.name === 'lab-web-ide'
        ? edited(one, { metadata: { uid: 'another' } })
        : one,
    );
    expect(await found(objects)).toEqual([
      expect.stringContaining('made from an older Workshop lab-web-ide (uid)'),
    ]);
  });

  it('is over with the new environment, while the old one drains with its user', async () => {
    const claimed = recorded('claim/2-session-allocated');
    const objects = [
      ...only({ name: 'lab-java-basics', initial: 0 }, recorded('workshop-updated/2-workshop'), claimed),
      recorded('workshop-updated/3-old-env-stopping'),
      recorded('workshop-updated/4-new-env'),
    ];
    const now = { now: '2026-11-30T16:40:00Z' };
    expect(await slotsOf(objects, now)).toEqual([
      { slot: 'lab-java-basics', phase: 'ready' },
      { slot: 'campus-labs-w01', phase: 'deleting', target: false, usedBy: 'campus-labs-w01-s001' },
    ]);
    expect(await found(objects, now)).toEqual([]);
  });

  it('is told where users of the old environment leave no room for the new one', async () => {
    const claimed = recorded('claim/2-session-allocated');
    const objects = [
      portal([{ name: 'lab-java-basics' }], { sessions: { maximum: 1 } }),
      ...[recorded('workshop-updated/2-workshop'), claimed],
      ...[recorded('workshop-updated/3-old-env-stopping'), recorded('workshop-updated/4-new-env')],
    ];
    expect(await found(objects, { now: '2026-11-30T16:40:00Z' })).toEqual([
      expect.stringMatching(
        /^lab-java-basics NoRoom: .*sessions.maximum is 1, and 1 of them are in environments that only drain/,
      ),
    ]);
  });
});

describe('what stands beside the entries', () => {
  it('the environment of an entry that is gone is surplus', async () => {
    const objects = AT_REST.map((one) =>
      one.kind === 'TrainingPortal' ? portal([{ name: 'lab-java-basics' }]) : one,
    );
    expect(await found(objects)).toEqual([
      expect.stringMatching(
        /^campus-labs-w02 EntryGone: .*its entry is no longer in spec.workshops of campus-labs$/,
      ),
    ]);
    expect(await slotsOf(objects)).toMatchObject([
      { slot: 'lab-java-basics' },
      { slot: 'campus-labs-w02', target: false },
    ]);
  });

  it('it drains for a while, and is leaked when it is still there', async () => {
    const stopping = recorded('entry-removed/1-env-stopping');
    const next = edited(stopping, {
      metadata: { name: 'campus-labs-w04', uid: 'next', creationTimestamp: '2026-11-30T16:19:43Z' },
      status: { educates: { phase: 'Running', initial: 0 } },
    });
    const objects = only(
      { name: 'lab-java-basics' },
      workshop('lab-java-basics', 2, 'e96fdedf-657d-40d8-98e8-f99f40faa0f8'),
      stopping,
      next,
    );
    expect(await found(objects, { now: '2026-11-30T16:20:00Z' })).toEqual([]);
    expect(await found(objects, { now: '2026-11-30T16:22:00Z' })).toEqual([
      'campus-labs-w03 EnvironmentLeaked: WorkshopEnvironment campus-labs-w03 is Stopping, nobody is in it, and the portal has not deleted it',
    ]);
  });

  it('one that the portal leaked with a session of nobody’s is told by when it was written last', async () => {
    const leaked = edited(recorded('orphan-environment/3-leaked-after-refused-delete'), {
      metadata: { managedFields: [{ time: '2026-11-30T16:49:00Z' }, { time: '2026-11-30T16:48:10Z' }] },
    });
    const objects = [...AT_REST, leaked];
    expect(await found(objects, { now: '2026-11-30T16:50:30Z' })).toEqual([]);
    expect(await found(objects, { now: '2026-11-30T16:52:00Z' })).toEqual([
      expect.stringContaining('campus-labs-w44 EnvironmentLeaked'),
    ]);
    const user = edited(recorded('orphan-environment/3-leaked-session'), {
      status: { educates: { user: 'ada' } },
    });
    expect(await found([...objects, user], { now: '2026-11-30T16:52:00Z' })).toEqual([]);
  });

  it('a second one for an entry is surplus, the newest counts', async () => {
    const older = edited(recorded('workshop-updated/1-env-before'), {
      metadata: { name: 'campus-labs-w00', uid: 'older', creationTimestamp: '2026-11-30T16:08:00Z' },
    });
    expect(await found([...AT_REST, older])).toEqual([
      'campus-labs-w00 SecondEnvironment: WorkshopEnvironment campus-labs-w00 is a second one for its entry',
    ]);
  });

  it('one of a deleted portal of the same name is not this one’s: it is told, and deleted', async () => {
    const orphan = edited(recorded('orphan-environment/1-orphan'), {
      metadata: { labels: { 'training.educates.dev/portal.uid': 'of-the-first' } },
    });
    expect(await found([...AT_REST, orphan])).toEqual([
      'campus-labs-w35 OrphanedEnvironment: WorkshopEnvironment campus-labs-w35 is of a portal that is gone (uid of-the-first)',
    ]);
    expect((await slotsOf([...AT_REST, orphan])).at(-1)).toMatchObject({
      levers: ['delete WorkshopEnvironment campus-labs-w35'],
    });
  });

  it('what a deleted portal left is seen though the portal is gone', async () => {
    const { desired, observed } = await observe(AT_REST.filter(({ kind }) => kind !== 'TrainingPortal'));
    expect(desired.problem).toEqual({
      reason: 'OrphanedEnvironment',
      message:
        'there is no TrainingPortal campus-labs, and of one that is gone there stand: campus-labs-w01, campus-labs-w02',
    });
    expect(observed.instances.map(({ slot }) => slot)).toEqual(['campus-labs-w01', 'campus-labs-w02']);
  });

  it('one that is older than its refresh allows is told', async () => {
    const objects = only(
      { name: 'lab-java-basics', refresh: '60s' },
      ...AT_REST.filter(({ kind, metadata }) => kind !== 'TrainingPortal' && !metadata.name.includes('w02')),
    );
    expect(await found(objects)).toEqual([expect.stringMatching(/^lab-java-basics NotRefreshed: /)]);
    expect(await found(objects, { now: '2026-11-30T16:10:00Z' })).toEqual([]);
  });

  it('what is being deleted is gone, and nobody’s business', async () => {
    const going = edited(recorded('entry-removed/1-env-stopping'), {
      metadata: { deletionTimestamp: '2026-11-30T16:18:59Z' },
    });
    expect(await found([...AT_REST, going], { now: '2026-11-30T17:00:00Z' })).toEqual([]);
    expect(await facts('campus-labs-w03', [...AT_REST, going])).toContain('its environment is GONE');
  });
});
