import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import { claimOf } from '../../../src/platform/theia-cloud/claims.ts';
import type { SlotView } from '../../../src/platform/theia-cloud/slot-view.ts';
import { appDefinitionIn, recorded } from './_recorded.ts';

const NOW = Date.parse('2026-11-30T16:10:00Z');
const SOURCE = appDefinitionIn(recorded('a-pool-keycloak/objects.json'));
const SECOND = 1_000;

interface User {
  readonly name: string;
  readonly status?: 'HANDLED' | 'HANDLING' | 'ERROR';
  /** The slot that it was told. */
  readonly told?: number;
  /** Which of slot 1's claimable objects it owns. */
  readonly owns?: readonly ('externalService' | 'internalService' | 'deployment')[];
  readonly ageMs?: number;
  readonly isGoing?: boolean;
}

function sessionOf({ name, status, told, ageMs = 60 * SECOND, isGoing }: User): KubeObject {
  return {
    apiVersion: 'theia.cloud/v1beta8',
    kind: 'Session',
    metadata: {
      name,
      uid: `${name}-uid`,
      creationTimestamp: new Date(NOW - ageMs).toISOString(),
      ...(told === undefined ? {} : { annotations: { 'theia-cloud.io/instance-id': String(told) } }),
      ...(isGoing ? { deletionTimestamp: new Date(NOW).toISOString() } : {}),
    },
    spec: { name, appDefinition: SOURCE.metadata.name, user: `${name}@example.org` },
    ...(status === undefined ? {} : { status: { operatorStatus: status, operatorMessage: 'no luck' } }),
  };
}

function part(kind: string, users: readonly User[], which: NonNullable<User['owns']>[number]): KubeObject {
  const owners = users.filter(({ owns }) => owns?.includes(which));
  return {
    apiVersion: 'v1',
    kind,
    metadata: {
      name: `instance-1-${which}`,
      ownerReferences: owners.map(({ name }) => ({
        apiVersion: 'theia.cloud/v1beta8',
        kind: 'Session',
        name,
        uid: `${name}-uid`,
      })),
    },
  };
}

type Held = readonly [] | readonly [user: string, settled: boolean, told: string | undefined];

/** Who holds slot 1, whether care may be given, and what a person is told. */
function heldBy(...users: readonly User[]): Held {
  const view: SlotView = {
    slot: 1,
    source: SOURCE,
    parts: {
      externalService: part('Service', users, 'externalService'),
      internalService: part('Service', users, 'internalService'),
      deployment: part('Deployment', users, 'deployment'),
    },
    pods: [],
    sidecarPods: [],
    rendered: undefined,
    revision: undefined,
    warmPool: undefined,
    settings: undefined,
    routes: undefined,
    sessions: new Map(users.map((user) => [`${user.name}-uid`, sessionOf(user)])),
    now: NOW,
  };
  const claim = claimOf(view);
  return claim === undefined ? [] : [claim.session.metadata.name, claim.settled, claim.trouble?.reason];
}

const ALL = ['externalService', 'internalService', 'deployment'] as const;
const ADA = { name: 'ada', status: 'HANDLED', told: 1, owns: ALL } as const;

describe('a slot is held', () => {
  it.each<[string, User, readonly [string, boolean] | readonly []]>([
    ['by whoever owns all of it', ADA, ['ada', true]],
    [
      'by whoever owns one object of it, settled or not',
      { name: 'ada', owns: ['deployment'] },
      ['ada', false],
    ],
    ['by whoever was told it, though nothing is theirs', { ...ADA, owns: [] }, ['ada', true]],
    ['to the end by whoever is going', { ...ADA, isGoing: true }, ['ada', false]],
    ['not by whoever was told another one', { ...ADA, told: 2, owns: [] }, []],
    ['not by whoever failed and owns nothing of it', { ...ADA, status: 'ERROR', owns: [] }, []],
  ])('%s', (_, user, expected) => {
    expect(heldBy(user)).toEqual(expected.length === 0 ? [] : [...expected, undefined]);
  });

  it('by one that failed, until it is deleted, and a person is told', () => {
    expect(heldBy({ ...ADA, status: 'ERROR' })).toEqual(['ada', false, 'FailedClaim']);
  });
});

describe('of two', () => {
  const bob = { name: 'bob', status: 'HANDLED', owns: ['externalService'] } as const;

  it.each<[string, readonly User[], Held]>([
    ['the one that was told this slot wins', [bob, ADA], ['ada', true, 'SplitClaim']],
    [
      'neither wins when both were told it',
      [
        { ...bob, told: 1 },
        { ...ADA, owns: [] },
      ],
      ['bob', false, 'SplitClaim'],
    ],
    [
      'neither wins when neither was',
      [bob, { name: 'ada', status: 'HANDLED', owns: ['deployment'] }],
      ['bob', false, 'SplitClaim'],
    ],
    ['the one that did not fail wins', [{ ...bob, status: 'ERROR' }, ADA], ['ada', true, 'FailedClaim']],
    [
      'nothing is said while one is on its way',
      [{ name: 'bob', status: 'HANDLING', owns: ['externalService'], ageMs: SECOND }, ADA],
      ['ada', false, undefined],
    ],
    [
      'one that got no answer for half a minute gets none',
      [{ name: 'bob', status: 'HANDLING', owns: ['externalService'], ageMs: 31 * SECOND }, ADA],
      ['ada', true, 'SplitClaim'],
    ],
  ])('%s', (_, users, expected) => {
    expect(heldBy(...users)).toEqual(expected);
  });
});
