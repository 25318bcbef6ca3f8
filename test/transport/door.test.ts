import { describe, expect, it } from 'vitest';
import type { MetricName } from '../../src/telemetry/metrics.ts';
import { createDoor, type Knock } from '../../src/transport/door.ts';
import { makeHeartbeat } from '../../src/transport/heartbeat.ts';
import type { Message } from '../../src/transport/message.ts';
import { sign } from '../../src/transport/signature.ts';
import { leapingClock } from '../kube/_leaping-clock.ts';
import { notice, poolKey, recordingLog, SECRET, START } from './_world.ts';

/** A door to cluster `prod`, where platform theia-cloud is served in namespace ide, and what it let in and counted. */
function world(accept: (message: Message) => Promise<void> = async () => {}) {
  const clock = leapingClock();
  const { log, lines } = recordingLog();
  const accepted: Message[] = [];
  const counted: [MetricName, unknown][] = [];
  const door = createDoor({
    clock,
    log,
    metrics: { add: (name, _value, labels) => void counted.push([name, labels]) },
    secretOf: async (cluster, keyId) => (cluster === 'prod' && keyId === 'k1' ? SECRET : undefined),
    serves: ({ platform, namespace }) => platform === 'theia-cloud' && namespace === 'ide',
    accept: async (message) => {
      await accept(message);
      accepted.push(message);
    },
  });
  const answer = async (given: Knock) => {
    const { status, body } = await door.answer(given);
    return { status, error: (JSON.parse(body) as { error?: string }).error };
  };
  return { answer, accepted, counted, clock, lines };
}

/** A request that is rightly signed. */
function knock(body: string | Uint8Array = JSON.stringify(notice()), now = START, id = notice().id): Knock {
  const timestamp = String(now / 1_000);
  const signature = sign({ id, timestamp, body }, SECRET);
  return {
    method: 'POST',
    path: '/v1/notices/prod/k1',
    headers: { id: [id], timestamp: [timestamp], signature: [signature] },
    body: Buffer.from(body),
  };
}

describe('the door', () => {
  it('does not let the same request in twice', async () => {
    const { answer, accepted, counted } = world();
    expect((await answer(knock())).status).toBe(202);
    expect(await answer(knock())).toEqual({ status: 401, error: 'let in already: replayed' });
    expect(accepted).toHaveLength(1);
    expect(counted).toEqual([['NoticesRefused', { reason: 'replay' }]]);
  });

  it('lets in the same notice when its sender signed it anew', async () => {
    const { answer, clock } = world();
    await answer(knock());
    await clock.advance(1_000);
    expect((await answer(knock(undefined, START + 1_000))).status).toBe(202);
  });

  it('lets in what it could not take the first time', async () => {
    let tries = 0;
    const { answer } = world(async () => {
      tries += 1;
      if (tries === 1) throw new Error('the queue is not there');
    });
    expect(await answer(knock())).toEqual({ status: 503, error: 'cannot take it now' });
    expect((await answer(knock())).status).toBe(202);
  });

  it('remembers what it let in for as long as its time is good, and no longer', async () => {
    const { answer, clock } = world();
    const fromAhead = knock(undefined, START + 60_000);
    await answer(fromAhead);
    await clock.advance(360_000);
    expect(await answer(fromAhead)).toEqual({ status: 401, error: 'let in already: replayed' });
    await clock.advance(1_000);
    expect(await answer(fromAhead)).toEqual({ status: 401, error: 'signed more than 300 s ago' });
  });

  it('takes a sign of life', async () => {
    const { answer, accepted } = world();
    const beat = makeHeartbeat({ cluster: 'prod', epoch: '00ff', beat: 3, observedAt: START, sent: 12 });
    expect((await answer(knock(JSON.stringify(beat), START, beat.id))).status).toBe(202);
    expect(accepted).toMatchObject([
      { kind: 'heartbeat', cluster: 'prod', heartbeat: { data: { sent: 12 } } },
    ]);
  });

  const text = JSON.stringify(notice());
  it.each([
    [
      'of a platform nobody serves',
      JSON.stringify(notice({ key: { ...poolKey(), platform: 'other' } })),
      'its platform or namespace is not served',
    ],
    [
      'of a namespace nobody serves',
      JSON.stringify(notice({ key: { ...poolKey(), namespace: 'x' } })),
      'its platform or namespace is not served',
    ],
    [
      "that is another cluster's sign of life",
      JSON.stringify(makeHeartbeat({ cluster: 'b', epoch: '0', beat: 1, observedAt: 0, sent: 1 })),
      "the notice is another cluster's",
    ],
    [
      'that has a key twice',
      text.replace('"specversion"', '"specversion":"1.0","specversion"'),
      'no notice: a key comes twice',
    ],
    [
      'that has a key twice, spelled in two ways',
      text.replace('"subject"', '"subject":"x","sub\\u006aect"'),
      'no notice: a key comes twice',
    ],
    [
      'that has a key twice deep inside',
      text.replace('"kind"', '"kind":"Pod","kind"'),
      'no notice: a key comes twice',
    ],
    [
      'with a prototype',
      text.replace('{', '{"__proto__":{"specversion":"1.0"},'),
      'no notice: it is wrong (unrecognized_keys)',
    ],
    [
      'with a prototype deep inside',
      text.replace('"kind"', '"__proto__":{"kind":"Pod"},"kind"'),
      'no notice: data.object is wrong (unrecognized_keys)',
    ],
    [
      'with a constructor',
      text.replace('{', '{"constructor":{"prototype":{}},'),
      'no notice: it is wrong (unrecognized_keys)',
    ],
    [
      'with a path for a name',
      text.replace('instance-3', '../../secrets/x'),
      'no notice: data.object.name is wrong (invalid_format)',
    ],
    [
      'with a name of 10 kB',
      text.replace('instance-3', 'x'.repeat(10_000)),
      'no notice: data.object.name is wrong (invalid_format)',
    ],
    [
      'with a key of 10 kB',
      text.replaceAll('/java', `/${'x'.repeat(5_000)}`),
      'no notice: subject is wrong (too_big)',
    ],
    [
      'with a group that no queue would carry',
      text.replace('"apps"', '"a\\u0000"'),
      'no notice: data.object.group is wrong (invalid_format)',
    ],
    ['that is a number', '7', 'no notice: it is wrong (invalid_type)'],
    ['that is null', 'null', 'no notice: it is wrong (invalid_type)'],
    ['of nothing', '', 'no notice: not JSON'],
  ])('refuses a body %s, signed or not', async (_title, body, error) => {
    const { answer, accepted, counted } = world();
    expect(await answer(knock(body))).toEqual({ status: 400, error });
    const unsigned = knock(body);
    expect((await answer({ ...unsigned, headers: { ...unsigned.headers, signature: [] } })).status).toBe(401);
    expect(accepted).toEqual([]);
    expect(counted).toEqual([
      ['NoticesRefused', { reason: 'content' }],
      ['NoticesRefused', { reason: 'signature' }],
    ]);
  });

  it('refuses a body that is no text', async () => {
    const { answer } = world();
    expect(await answer(knock(Uint8Array.of(0x22, 0xff, 0x22)))).toEqual({
      status: 400,
      error: 'no notice: not UTF-8',
    });
  });

  it('refuses a body that was parsed and written again, cut or flagged', async () => {
    const { answer } = world();
    const whole = knock();
    const bodies = [
      JSON.stringify(notice(), null, 1),
      text.slice(0, -1),
      Buffer.from(text).toString('base64'),
    ];
    for (const body of bodies) {
      expect(await answer({ ...whole, body: Buffer.from(body) })).toEqual({
        status: 401,
        error: 'no signature fits',
      });
    }
  });

  it('names in its log no cluster that it does not know', async () => {
    const { answer, lines } = world();
    await answer({ ...knock(), path: '/v1/notices/canary-cluster/k1' });
    expect(lines).toEqual(['warn webhook.refused reason="no signature fits"\n']);
  });
});
