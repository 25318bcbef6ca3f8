import { describe, expect, it } from 'vitest';
import { type Violation, watchPromises } from '../../src/app/watchdog.ts';
import type { Commit } from '../../src/embedded/types.ts';
import type { KubeObject, OwnerReference } from '../../src/kube/api.ts';

const US = 'everwarm';
const UID = '0a1b2c3d4e5f';
const APP_UID = `00000000-0000-4000-8000-${UID}`;

const owner = (kind: string, uid: string): OwnerReference => ({ apiVersion: 'x/v1', kind, name: uid, uid });
const app = owner('AppDefinition', APP_UID);
const pool = owner('WarmPool', 'pool');
const anna = owner('Session', 'anna');

/** A cluster's commits, written by hand. */
function world(size: number, maxUnavailable: number | string) {
  const found: Violation[] = [];
  let now = 0;
  let tell = (_: Commit): void => {};
  const watchdog = watchPromises({
    store: {
      onCommit(listener) {
        tell = listener;
        return () => {};
      },
    },
    user: US,
    now: () => now,
    onViolation: (violation) => found.push(violation),
  });
  const commit = (type: Commit['type'], object: KubeObject, user: string): void => {
    const resource = { group: '', version: 'v1', kind: object.kind, plural: 'x', namespaced: true };
    const verb = type === 'ADDED' ? 'create' : type === 'DELETED' ? 'delete' : 'patch';
    tell({ resourceVersion: 1, type, resource, object, request: { verb, resource, user } });
  };
  const object = (kind: string, name: string, owners: readonly OwnerReference[], spec: object = {}) => ({
    apiVersion: 'v1',
    kind,
    metadata: { name, uid: name, ownerReferences: owners },
    spec,
  });
  const definition = object('AppDefinition', 'java', [], { minInstances: size });
  commit('ADDED', { ...definition, metadata: { name: 'java', uid: APP_UID } }, 'helm');
  commit('ADDED', object('WarmPool', 'java', [app], { rollout: { maxUnavailable } }), US);
  return {
    found,
    watchdog,
    wait: (ms: number) => {
      now += ms;
    },
    session: (name: string, type: Commit['type'] = 'ADDED') =>
      commit(type, object('Session', name, []), 'rest'),
    service: (slot: number, type: Commit['type'], owners: readonly OwnerReference[], user = US) =>
      commit(type, object('Service', `instance-${slot}-java-${UID}`, owners), user),
    configMap: (slot: number, type: Commit['type']) =>
      commit(type, object('ConfigMap', `instance-${slot}-email-java-${UID}`, [app]), US),
  };
}

describe('an instance in use', () => {
  it('must not be written on by Everwarm, nor what belongs to it', () => {
    const { found, session, service, configMap, watchdog } = world(2, 1);
    service(1, 'ADDED', [app], 'operator');
    session('anna');
    service(1, 'MODIFIED', [app, anna], 'operator');
    service(1, 'MODIFIED', [app, anna]);
    configMap(1, 'DELETED');
    expect(found.map(({ name, message }) => `${name} ${message}`)).toEqual([
      `S1 patch of Service/instance-1-java-${UID} while a user holds it`,
      `S1 delete of ConfigMap/instance-1-email-java-${UID} while a user holds it`,
    ]);
    expect(watchdog.count()).toBe(2);
  });

  it('may be written on by everybody else, and by Everwarm before and after', () => {
    const { found, session, service } = world(2, 1);
    service(1, 'ADDED', [app]);
    session('anna');
    service(1, 'MODIFIED', [app, anna], 'operator');
    service(1, 'MODIFIED', [app, anna], 'operator');
    session('anna', 'DELETED');
    service(1, 'MODIFIED', [app, anna]);
    expect(found).toEqual([]);
  });

  it('is another one than its neighbour', () => {
    const { found, session, service } = world(2, 1);
    session('anna');
    service(1, 'ADDED', [app, anna], 'operator');
    service(2, 'ADDED', [app], 'operator');
    service(2, 'MODIFIED', [app, pool]);
    expect(found).toEqual([]);
  });
});

describe('withdrawals', () => {
  it('must not be more than the pool allows', () => {
    const { found, service } = world(4, '50%');
    for (const slot of [1, 2, 3, 4]) service(slot, 'ADDED', [app]);
    service(4, 'MODIFIED', [app, pool]);
    service(3, 'MODIFIED', [app, pool]);
    expect(found).toEqual([]);
    service(2, 'MODIFIED', [app, pool]);
    expect(found).toEqual([{ name: 'S5', message: 'slots 2, 3, 4 are withdrawn at once, where 2 may be' }]);
  });

  it('leave room again when the instance is returned or taken by a user', () => {
    const { found, service, session } = world(4, 1);
    for (const slot of [1, 2, 3, 4]) service(slot, 'ADDED', [app]);
    service(4, 'MODIFIED', [app, pool]);
    service(4, 'MODIFIED', [app]);
    service(3, 'MODIFIED', [app, pool]);
    session('anna');
    service(3, 'MODIFIED', [app, pool, anna], 'operator');
    service(2, 'MODIFIED', [app, pool]);
    expect(found).toEqual([]);
  });

  it('are not the making of new instances, nor the end of surplus ones', () => {
    const { found, service } = world(2, 1);
    service(1, 'ADDED', [app, pool]);
    service(2, 'ADDED', [app, pool]);
    for (const slot of [3, 4]) service(slot, 'ADDED', [app]);
    for (const slot of [3, 4]) service(slot, 'MODIFIED', [app, pool]);
    expect(found).toEqual([]);
  });

  it('are measured by the unclaimed, once their users have been there for a while', () => {
    const { found, service, session, wait } = world(4, '50%');
    session('anna');
    for (const slot of [1, 2]) service(slot, 'ADDED', [app, anna], 'operator');
    for (const slot of [3, 4]) service(slot, 'ADDED', [app]);
    wait(60_000);
    service(4, 'MODIFIED', [app, pool]);
    expect(found).toEqual([]);
    service(3, 'MODIFIED', [app, pool]);
    expect(found).toHaveLength(1);
  });
});
