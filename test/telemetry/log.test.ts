import { describe, expect, it } from 'vitest';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';
import { createLog } from '../../src/telemetry/log.ts';

function lines(format: 'human' | 'json') {
  const written: string[] = [];
  const clock = createVirtualClock(Date.parse('2026-01-01T00:00:00Z'));
  return { log: createLog({ clock, format, write: (line) => written.push(line) }), written };
}

describe('the log', () => {
  it('writes a line that a tired person can read', () => {
    const { log, written } = lines('human');
    log.info('reconcile.partial', {
      pool: 'prod/theia-cloud/ide/java',
      held: 2,
      dryRun: false,
      since: undefined,
    });
    log.warn('reflector.retry', { why: 'list Pod: 403 Forbidden' });
    log.error('queue.gave-up');
    expect(written).toEqual([
      'reconcile.partial pool=prod/theia-cloud/ide/java held=2 dryRun=false\n',
      'warn reflector.retry why="list Pod: 403 Forbidden"\n',
      'error queue.gave-up\n',
    ]);
  });

  it('writes a line that a program can read', () => {
    const { log, written } = lines('json');
    log.warn('reflector.retry', { waitMs: 5, event: 'forged', level: 'info' });
    expect(written.map((line) => JSON.parse(line))).toEqual([
      { at: '2026-01-01T00:00:00.000Z', level: 'warn', event: 'reflector.retry', waitMs: 5 },
    ]);
  });

  it.each(['human', 'json'] as const)('never tells a secret (%s)', (format) => {
    const { log, written } = lines(format);
    log.info('x', {
      token: 'canary',
      clientSecret: 'canary',
      Authorization: 'canary',
      password: 'canary',
      cookie: 'canary',
    });
    log.info('x', {
      header: 'Bearer canary',
      url: 'https://x/?X-Amz-Signature=canary&a=1',
      key: 'whsec_canary',
    });
    expect(written).toHaveLength(2);
    expect(written.join()).not.toContain('canary');
  });

  it.each(['human', 'json'] as const)('keeps each event on one line of bounded length (%s)', (format) => {
    const { log, written } = lines(format);
    log.info('x', { pool: 'a\nerror forged\r\u2028', why: 'y'.repeat(10_000) });
    expect(written).toHaveLength(1);
    expect(written[0]?.trimEnd().split(/[\n\r]/)).toHaveLength(1);
    expect(written[0]?.length).toBeLessThan(700);
  });
});
