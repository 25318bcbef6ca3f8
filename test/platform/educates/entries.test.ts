import { describe, expect, it } from 'vitest';
import { AT_REST, edited, found, observe, portal, recorded } from './_portal.ts';

const JAVA = { name: 'lab-java-basics' };
/** The portal at rest with another list of entries; that of the Java workshop stays good. */
const listing = (workshops: unknown, settings = {}) =>
  AT_REST.map((one) => (one.kind === 'TrainingPortal' ? portal(workshops, settings) : one)).filter(
    ({ metadata }) => !metadata.name.startsWith('campus-labs-w02'),
  );
const LONG = 'a'.repeat(64);

describe('a bad entry is told with its field and why, and the others are served', () => {
  it.each([
    [
      'an alias that no label can be',
      { name: 'lab-web-ide', alias: 'Java: part 1' },
      'Java: part 1 InvalidEntry: spec.workshops[1].alias "Java: part 1" has more than letters, digits, - _ and .: it cannot be a label, so no environment is made for it',
    ],
    [
      'an alias that is too long',
      { name: 'lab-web-ide', alias: LONG },
      `${LONG} InvalidEntry: spec.workshops[1].alias "${LONG}" is longer than 63 characters`,
    ],
    [
      'a Workshop that is not there',
      { name: 'lab-missing' },
      'lab-missing WorkshopMissing: spec.workshops[1].name: there is no Workshop lab-missing',
    ],
    [
      'a duration in days',
      { name: 'lab-web-ide', expires: '2d' },
      'lab-web-ide InvalidEntry: spec.workshops[1].expires "2d" is no duration: write 90s, 30m or 2h',
    ],
    [
      'a duration that is a number',
      { name: 'lab-web-ide', refresh: 60 },
      'lab-web-ide InvalidEntry: spec.workshops[1].refresh 60 is no duration',
    ],
    [
      'a number that is text',
      { name: 'lab-web-ide', reserved: 'two' },
      'lab-web-ide InvalidEntry: spec.workshops[1].reserved is not a whole number',
    ],
    ['no name', {}, '* InvalidEntry: spec.workshops[1].name is missing'],
    ['no entry at all', null, '* InvalidEntry: spec.workshops[1].name is missing'],
    [
      'an alias that is a number',
      { name: 'lab-web-ide', alias: 7 },
      '* InvalidEntry: spec.workshops[1].alias is not text',
    ],
    [
      'an alias twice',
      { name: 'lab-web-ide', alias: 'lab-java-basics' },
      '* DuplicateEntry: spec.workshops[1].alias "lab-java-basics" is that of spec.workshops[0] already',
    ],
  ])('%s', async (_, entry, message) => {
    const objects = listing([JAVA, entry]);
    expect((await found(objects))[0]?.slice(0, message.length)).toBe(message);
    const { observed, desired } = await observe(objects);
    expect(observed.instances[0]).toMatchObject({ slot: 'lab-java-basics', phase: 'ready' });
    expect(desired.problem).toBeUndefined();
    expect(desired.concern?.message).toContain('spec.workshops[1]');
  });

  it('a Workshop without spec.session', async () => {
    const objects = AT_REST.map((one) =>
      one.kind === 'Workshop' && one.metadata.name === 'lab-web-ide'
        ? edited(one, { spec: { session: undefined } })
        : one,
    );
    expect(await found(objects)).toEqual([
      'lab-web-ide-teachers InvalidWorkshop: Workshop lab-web-ide: spec.session is missing',
    ]);
  });

  it('a default that is wrong', async () => {
    const settings = { workshop: { defaults: { orphaned: '5' } } };
    expect(await found(listing([JAVA], settings))).toEqual([
      '* InvalidEntry: spec.portal.workshop.defaults.orphaned "5" is no duration: write 90s, 30m or 2h',
    ]);
  });

  it('a Workshop that another portal has as well', async () => {
    const other = edited(portal([{ name: 'lab-web-ide' }]), {
      metadata: { name: 'other-labs', uid: 'other' },
    });
    expect(await found([...AT_REST, other])).toEqual([
      'lab-web-ide-teachers SharedWorkshop: spec.workshops[1].name: Workshop lab-web-ide is also one of portal other-labs',
    ]);
  });

  it.each([
    ['an empty list', []],
    ['no list', undefined],
    ['a list that is none', 'all'],
  ])('%s', async (_, workshops) => {
    const given = edited(portal(), { spec: { workshops } });
    const objects = [given, ...AT_REST.slice(1)];
    expect(await found(objects)).toEqual([
      expect.stringMatching(/^\* NoWorkshops: spec.workshops is empty/),
      expect.stringMatching(/^campus-labs-w01 EntryGone/),
      expect.stringMatching(/^campus-labs-w02 EntryGone/),
    ]);
  });
});

describe('a portal that does not serve', () => {
  it('has no status yet', async () => {
    const { desired } = await observe([recorded('trainingportal/created'), ...AT_REST.slice(1)]);
    expect(desired.problem).toEqual({
      reason: 'PortalNotReady',
      message: 'status.educates is missing: the portal does not serve its workshops',
    });
  });

  it('waits for what is left of the one before it', async () => {
    const { desired } = await observe([recorded('portal-recreated/1-pending')]);
    expect(desired.problem).toEqual({
      reason: 'PortalNotReady',
      message:
        'status.educates.phase is Pending: the portal does not serve its workshops: Namespace campus-labs-ui already exists.',
    });
  });

  it('and a portal that nobody can make sense of stops nothing', async () => {
    const odd = { ...portal(), spec: 'all', status: [1] };
    expect((await observe([odd, ...AT_REST.slice(1)])).desired.problem?.reason).toBe('PortalNotReady');
  });
});

/** By what the portal would do with them, which are the sizes that count for "never taken into use". */
describe('how many warm sessions are wanted', () => {
  it.each([
    [8, {}, 'wanted: 1, 1 at first; at most 8'],
    [0, {}, 'wanted: 0, 0 at first; at most 0'],
    [8, { capacity: 4, reserved: 2 }, 'wanted: 2, 2 at first; at most 4'],
    [100, { initial: 75, reserved: 5 }, 'wanted: 5, 75 at first; at most 100'],
    [0, { capacity: 10, initial: 1, reserved: 3 }, 'wanted: 3, 3 at first; at most 10'],
    [0, { capacity: 10, initial: 0, reserved: 2 }, 'wanted: 2, 0 at first; at most 10'],
    [8, { capacity: 4, reserved: 6 }, 'wanted: 4, 4 at first; at most 4'],
    [8, { capacity: 3, initial: 9, reserved: 1 }, 'wanted: 1, 3 at first; at most 3'],
  ])('of a portal with at most %d sessions and %j', async (maximum, sizes, said) => {
    const given = edited(portal([{ ...JAVA, ...sizes }]), {
      spec: {
        portal: {
          sessions: { maximum },
          workshop: { defaults: { capacity: undefined, initial: undefined, reserved: undefined } },
        },
      },
    });
    const { detailsOf } = await observe([given, ...AT_REST.slice(1)]);
    expect(detailsOf?.('lab-java-basics')?.facts.join('\n')).toContain(said);
  });
});
