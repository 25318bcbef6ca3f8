import type { PoolKey } from '../../src/pool/key.ts';
import { createVirtualClock } from '../../src/simulator/virtual-clock.ts';
import { createLog, type Log } from '../../src/telemetry/log.ts';
import { makeNotice, type Notice, type NoticeParts } from '../../src/transport/notice.ts';
import { parseSecret } from '../../src/transport/signature.ts';

export const START = Date.parse('2026-01-01T00:00:00Z');

/** The example secret of the Standard Webhooks libraries. */
export const SECRET_TEXT = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
export const SECRET = parseSecret(SECRET_TEXT);
export const OTHER_SECRET = parseSecret(`whsec_${Buffer.alloc(32, 7).toString('base64')}`);

export function poolKey(name = 'java', cluster = 'prod'): PoolKey {
  return { cluster, platform: 'theia-cloud', namespace: 'ide', name };
}

/** A notice about a Deployment of the pool; `parts` is what matters to the test. */
export function notice(parts: Partial<NoticeParts> = {}): Notice {
  return makeNotice({
    key: poolKey(),
    object: {
      group: 'apps',
      kind: 'Deployment',
      namespace: 'ide',
      name: 'instance-3',
      uid: '0b5c7a52-1111-4222-8333-123456789abc',
      resourceVersion: '4711',
    },
    reason: 'changed',
    observedAt: START,
    coalesced: 1,
    epoch: '00ff00ff00ff00ff',
    seq: 7,
    ...parts,
  });
}

/** A log whose lines can be read back. */
export function recordingLog(): { readonly log: Log; readonly lines: string[] } {
  const lines: string[] = [];
  const log = createLog({
    clock: createVirtualClock(START),
    format: 'human',
    write: (line) => lines.push(line),
  });
  return { log, lines };
}
