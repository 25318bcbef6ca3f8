import type { KubeObject } from '../../kube/api.ts';
import { LEASES, OPERATOR_LEASE_NAME } from '../../platform/theia-cloud/resources.ts';
import type { Hands } from './operator-hands.ts';

const LEASE_SECONDS = 6;
const RENEW_DEADLINE_MS = 4_000;
const RETRY_MS = 1_000;

/** The operator's leadership: one Lease, held by whoever renews it. */
export interface Leadership {
  /** Resolves once the Lease is ours; tries once a second while it is somebody else's. */
  acquire(): Promise<void>;
  /** Renews once a second; resolves when the Lease could not be renewed for four seconds or was taken by another. */
  keep(): Promise<void>;
  /** Gives the Lease up, so that the next process need not wait for it to run out. */
  release(): Promise<void>;
}

export function createLeadership(hands: Hands, identity: string): Leadership {
  const write = async (lease: KubeObject, spec: Readonly<Record<string, unknown>>): Promise<boolean> =>
    (await hands.mergeGuarded(LEASES, lease, { spec })).kind === 'ok';
  const tryOnce = async (): Promise<boolean> => {
    const known = await hands.get(LEASES, OPERATOR_LEASE_NAME);
    const now = hands.now();
    if (known.kind === 'notFound') {
      const metadata = { name: OPERATOR_LEASE_NAME };
      const body = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata,
        spec: taken(identity, now, 0),
      };
      return (await hands.create(LEASES, body)) === undefined;
    }
    if (known.kind !== 'ok') return false;
    const spec = leaseSpec(known.value);
    const isFree = spec.holderIdentity === undefined || spec.holderIdentity === '' || isOver(spec, now);
    return isFree && write(known.value, taken(identity, now, (spec.leaseTransitions ?? 0) + 1));
  };
  /** Changes the Lease if it is still ours. */
  const writeMine = async (spec: Readonly<Record<string, unknown>>): Promise<boolean> => {
    const known = await hands.get(LEASES, OPERATOR_LEASE_NAME);
    return (
      known.kind === 'ok' && leaseSpec(known.value).holderIdentity === identity && write(known.value, spec)
    );
  };

  return {
    acquire: async () => {
      while (!(await tryOnce())) await hands.sleep(RETRY_MS);
    },
    keep: async () => {
      let renewedAt = hands.now();
      while (hands.now() - renewedAt < RENEW_DEADLINE_MS) {
        await hands.sleep(RETRY_MS);
        if (await writeMine({ renewTime: microTime(hands.now()) })) renewedAt = hands.now();
      }
    },
    release: async () => {
      await writeMine({ holderIdentity: '' });
    },
  };
}

interface LeaseSpec {
  readonly holderIdentity?: string;
  readonly leaseDurationSeconds?: number;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

// The server validated the Lease against its kind.
const leaseSpec = (lease: KubeObject): LeaseSpec => (lease['spec'] ?? {}) as LeaseSpec;

const isOver = ({ renewTime = '', leaseDurationSeconds = 0 }: LeaseSpec, now: number): boolean =>
  !(Date.parse(renewTime) + leaseDurationSeconds * 1_000 > now);

const taken = (holderIdentity: string, now: number, leaseTransitions: number) => ({
  holderIdentity,
  leaseDurationSeconds: LEASE_SECONDS,
  acquireTime: microTime(now),
  renewTime: microTime(now),
  leaseTransitions,
});

/** Exactly six decimals: anything else is refused. */
const microTime = (ms: number): string => new Date(ms).toISOString().replace('Z', '000Z');
