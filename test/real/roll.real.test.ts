import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock, systemRandom } from '../../src/clock.ts';
import type { JsonPatch } from '../../src/kube/api.ts';
import { APP_DEFINITIONS_V1BETA11 } from '../../src/platform/theia-cloud/resources.ts';
import { slotViews } from '../../src/simulator/_slot-view.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import { createUsers } from '../../src/simulator/world/users.ts';
import { type AuditEntry, readAudit, WRITE_VERBS } from '../real-cluster/audit.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { agreed, type Installation, NAMESPACE, startInstallation } from './_installation.ts';
import { type Trail, trailOf } from './_trail.ts';

const INSTANCES = 50;
/** A quarter of fifty, rounded down. */
const BUDGET = 12;
const CLAIMS_PER_SECOND = 2;
const SECONDS = 60;
const STAY_MS = 8_000;
const NEW = 'registry.example.org/ide/java-17:2.0.0';
const IDLE_MS = 60_000;

/**
 * A release goes through a pool of fifty on a real API server while users come and go. What Everwarm did is read from the
 * server's log afterwards; nothing of ours counts it.
 */
describe('a release under claims, on a real API server', () => {
  let installation: Installation;
  let trail: Trail;
  let entries: readonly AuditEntry[];
  let restedAt = 0;
  let replaced = 0;
  let told = '';

  beforeAll(async () => {
    if (findBinaries().kind === 'missing') return;
    installation = await startInstallation({ auditBodies: true });
    const { admin, operator, truth, cluster } = installation;
    await operator.start();
    await agreed(
      admin.create(
        APP_DEFINITIONS_V1BETA11,
        NAMESPACE,
        appDefinition('java', { minInstances: INSTANCES, maxInstances: 200 }),
      ),
    );
    const running = await installation.up();
    await installation.settled(running);
    const before = new Map(slotViews(truth, 'java').map(({ slot, instance }) => [slot, instance]));
    const began = systemClock.now();
    const place = { namespace: NAMESPACE, name: 'java' };
    await agreed(
      admin.patch(APP_DEFINITIONS_V1BETA11, place, { type: 'merge', patch: { spec: { image: NEW } } }),
    );
    // Under claims alone every instance may be made anew after its user, and none be taken away: users come when it has begun.
    await begun(installation);
    await userStream(installation);
    await installation.settled(running);
    restedAt = systemClock.now();
    replaced = slotViews(truth, 'java').filter(({ slot, instance }) => instance !== before.get(slot)).length;
    await systemClock.sleep(IDLE_MS);
    entries = readAudit(cluster.auditLog).filter(({ namespace }) => namespace === NAMESPACE);
    trail = trailOf(entries, cluster.users.controller.name);
    told = report(trail, began, restedAt, replaced);
  });

  afterAll(async () => {
    await installation?.stop();
  });

  it('goes through: every instance is new, ready and handed out', () => {
    const slots = slotViews(installation.truth, 'java');
    expect(slots.filter(({ image, ready, claimable }) => image === NEW && ready && claimable)).toHaveLength(
      INSTANCES,
    );
    process.stderr.write(`${told}\n`);
  });

  it('never takes more instances away at one moment than the pool may miss', () => {
    expect(trail.mostAway).toBeGreaterThan(0);
    expect(trail.mostAway).toBeLessThanOrEqual(BUDGET);
  });

  it('writes nothing on an instance that a user holds but what keeps it whole', () => {
    const harm = trail.writes.filter(({ isClaimed, entry }) => isClaimed && !keepsWhole(entry));
    expect(harm.map(({ entry }) => `${entry.verb} ${entry.resource}/${entry.name}`)).toEqual([]);
    const claims = entries.filter(
      ({ verb, resource, code }) => verb === 'create' && resource === 'sessions' && code === 201,
    );
    expect(claims).toHaveLength(CLAIMS_PER_SECOND * SECONDS);
  });

  it('writes nothing at all in the minute after', () => {
    const late = entries.filter(
      ({ user, verb, at }) => user === 'everwarm:controller' && WRITE_VERBS.has(verb) && at > restedAt,
    );
    expect(late.map(({ verb, resource, name }) => `${verb} ${resource}/${name}`)).toEqual([]);
  });
});

/** Resolves when the first slots are withheld. */
function begun({ truth, view }: Installation): Promise<void> {
  return new Promise((resolve) => {
    const stop = view.onCommit(() => {
      if (!slotViews(truth, 'java').some(({ claimable, user }) => !claimable && user === undefined)) return;
      stop();
      resolve();
    });
  });
}

/** Users come at a steady pace; each stays a while and leaves. Resolves when the last has left. */
async function userStream({ admin }: Installation): Promise<void> {
  const users = createUsers({ api: admin, namespace: NAMESPACE });
  const visits: Promise<void>[] = [];
  for (let at = 0; at < CLAIMS_PER_SECOND * SECONDS; at += 1) {
    visits.push(visit(`learner-${at}@example.org`));
    await systemClock.sleep(1_000 / CLAIMS_PER_SECOND);
  }
  await Promise.all(visits);

  async function visit(user: string): Promise<void> {
    await agreed(users.come(user, 'java'));
    await systemClock.sleep(STAY_MS * (0.5 + systemRandom()));
    await agreed(users.go(user, 'java'));
  }
}

/** References, labels and annotations of what stands, as read (P11); the pod's template and the rest stay as they are. */
function keepsWhole({ verb, sent }: AuditEntry): boolean {
  if (verb !== 'patch' || !Array.isArray(sent)) return verb === 'create';
  const patch = sent as JsonPatch;
  const [first] = patch;
  const isGuarded = first?.op === 'test' && first.path === '/metadata/resourceVersion';
  return isGuarded && patch.every(({ path }) => path.startsWith('/metadata/') || path.startsWith('/data/'));
}

function report({ writes, mostAway }: Trail, began: number, rested: number, replaced: number): string {
  const rolled = writes.filter(({ entry }) => entry.at >= began);
  const onClaimed = rolled.filter(({ isClaimed }) => isClaimed).length;
  const each = (rolled.length / Math.max(1, replaced)).toFixed(1);
  const seconds = ((rested - began) / 1_000).toFixed(1);
  return `a release through ${INSTANCES} under ${CLAIMS_PER_SECOND} claims/s: ${seconds} s, ${replaced} replaced, ${rolled.length} writes (${each} each), ${onClaimed} on claimed instances, at most ${mostAway} away`;
}
