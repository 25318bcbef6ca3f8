import { describe, expect, it } from 'vitest';
import type { TimelineEvent } from '../../src/app/story.ts';
import { clip, columns, createPaint } from '../../src/cli/render.ts';
import { createTimeline } from '../../src/cli/timeline.ts';
import type { Clock } from '../../src/clock.ts';

describe('columns', () => {
  it('line up, numbers to the right, colours not counted', () => {
    const paint = createPaint(true);
    const rows = [
      ['SLOT', 'STATE', 'FOR'],
      ['1', paint('ready', 'green'), ''],
      ['10', 'withdrawn', 'its pod'],
    ];
    expect(columns(rows, { indent: '  ', numeric: [0] })).toEqual([
      '  SLOT  STATE      FOR',
      '     1  \u001b[32mready\u001b[39m',
      '    10  withdrawn  its pod',
    ]);
  });
});

describe('a line for a terminal', () => {
  it.each([
    { title: 'that fits stays', text: 'short', width: 5, clipped: 'short' },
    { title: 'that does not is cut', text: 'too long', width: 5, clipped: 'too …' },
    { title: 'in a pipe is never cut', text: 'too long', width: undefined, clipped: 'too long' },
    {
      title: 'ends its colours where it is cut',
      text: `${createPaint(true)('too long', 'red')}!`,
      width: 5,
      clipped: '\u001b[31mtoo …\u001b[39m',
    },
  ])('$title', ({ text, width, clipped }) => {
    expect(clip(text, width)).toBe(clipped);
  });
});

/** A clock that stands until it is moved. */
function handClock() {
  const timers: { at: number; run: () => void }[] = [];
  let now = 1_000;
  const clock: Clock = {
    now: () => now,
    sleep: () => Promise.resolve(),
    after(ms, run) {
      const timer = { at: now + ms, run };
      timers.push(timer);
      return () => void timers.splice(timers.indexOf(timer), 1);
    },
  };
  const move = (ms: number): void => {
    now += ms;
    for (const timer of timers.filter(({ at }) => at <= now)) {
      timers.splice(timers.indexOf(timer), 1);
      timer.run();
    }
  };
  return { clock, move };
}

function timelineOf(hasColor = false) {
  const { clock, move } = handClock();
  const printed: string[] = [];
  const timeline = createTimeline({ clock, print: (line) => printed.push(line), hasColor, width: undefined });
  return { timeline, printed, move };
}

const pool = 'here/theia-cloud/ide/java';
const build = (slot: string): TimelineEvent => ({
  type: 'ActionDone',
  pool,
  action: { kind: 'build', slot, revision: 'v1' },
});

describe('the timeline', () => {
  it('says once what many slots do at the same time', () => {
    const { timeline, printed, move } = timelineOf();
    move(1_500);
    for (const slot of ['1', '2', '3', '5', '3']) timeline.add(build(slot));
    expect(printed).toEqual([]);
    move(250);
    expect(printed).toEqual(['   1.5s  everwarm  java/1-3,5      built: what it lacked is created']);
  });

  it('says it again when it happens again later', () => {
    const { timeline, printed, move } = timelineOf();
    timeline.add(build('1'));
    move(250);
    timeline.add(build('1'));
    timeline.flush();
    expect(printed).toHaveLength(2);
  });

  it('keeps the order in which things began', () => {
    const { timeline, printed } = timelineOf();
    timeline.add({ type: 'Story', who: 'user', pool, what: 'anna asks for an instance' });
    timeline.add(build('1'));
    timeline.flush();
    expect(printed.map((line) => line.slice(9, 17).trim())).toEqual(['user', 'everwarm']);
  });

  it.each<{ title: string; event: TimelineEvent }>([
    {
      title: 'a notice of a Service',
      event: {
        type: 'Notice',
        pool,
        object: 'Service/instance-1',
        reason: 'changed',
        coalesced: 3,
        lost: false,
      },
    },
    {
      title: 'a lost notice',
      event: {
        type: 'Notice',
        pool,
        object: 'AppDefinition/java',
        reason: 'changed',
        coalesced: 1,
        lost: true,
      },
    },
    { title: 'a resync that found nothing', event: { type: 'Resync', pools: 3, enqueued: [] } },
    {
      title: 'a write that somebody else was quicker with',
      event: {
        type: 'ActionFailed',
        pool,
        action: { kind: 'return', slot: '1' },
        kind: 'conflict',
        message: '',
      },
    },
  ])('is quiet about $title', ({ event }) => {
    const { timeline, printed } = timelineOf();
    timeline.add(event);
    timeline.flush();
    expect(printed).toEqual([]);
  });

  it.each<{ says: string; event: TimelineEvent }>([
    {
      says: 'java/3          sends word: its Deployment is gone',
      event: {
        type: 'Notice',
        pool,
        object: 'Deployment/instance-3-java-0a1b2c3d4e5f',
        reason: 'deleted',
        coalesced: 2,
        lost: false,
      },
    },
    {
      says: 'sends word: its definition changed (one notice for 4 changes)',
      event: {
        type: 'Notice',
        pool,
        object: 'AppDefinition/java',
        reason: 'changed',
        coalesced: 4,
        lost: false,
      },
    },
    { says: 'resync: 1 of 3 pools need a pass', event: { type: 'Resync', pools: 3, enqueued: [pool] } },
    {
      says: 'return failed: slow down',
      event: {
        type: 'ActionFailed',
        pool,
        action: { kind: 'return', slot: '1' },
        kind: 'throttled',
        message: 'slow down',
      },
    },
    {
      says: 'blocked: Quota, no room',
      event: { type: 'PoolBlocked', pool, reason: 'Quota', message: 'no room' },
    },
    { says: 'VIOLATION S1: a write', event: { type: 'Violation', name: 'S1', message: 'a write' } },
  ])('says: $says', ({ event, says }) => {
    const { timeline, printed } = timelineOf();
    timeline.add(event);
    timeline.flush();
    expect(printed).toEqual([expect.stringContaining(says)]);
  });

  it('has colours on a terminal only', () => {
    const [plain, colored] = [timelineOf(false), timelineOf(true)];
    for (const { timeline } of [plain, colored]) {
      timeline.add(build('1'));
      timeline.flush();
    }
    expect(plain.printed.join()).not.toContain('\u001b');
    expect(colored.printed.join()).toContain('\u001b[32m');
  });
});
