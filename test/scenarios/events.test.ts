/** What kubectl tells somebody who asks why: Kubernetes Events on a pool's definition and on its WarmPool. */
import { describe, expect, it } from 'vitest';
import { EVENTS } from '../../src/controller/write-events.ts';
import type { KubeApi, KubeObject } from '../../src/kube/api.ts';
import type { World } from '../../src/simulator/world.ts';
import { kubectlOn } from './_kubectl-on.ts';
import { end, expectRest, NEW, OLD, open, PARTS, portrait, statusOf, TYPO } from './_story.ts';

/** `Warning Blocked x2: Slots 9, 10 …`: what was told of an object since Everwarm came, by reason. */
function told(world: World, kind: 'AppDefinition' | 'WarmPool'): readonly string[] {
  return eventsIn(world)
    .filter(({ involvedObject }) => (involvedObject as { kind: string }).kind === kind)
    .map(({ type, reason, count, message }) => `${type} ${reason} x${count}: ${message}`)
    .sort();
}

/** Ours; others tell theirs of the same namespace. */
function eventsIn({ cluster }: World): readonly KubeObject[] {
  return cluster.admin.list(EVENTS).filter(({ source }) => (source as Source).component === 'everwarm');
}

interface Source {
  readonly component?: string;
}

function misspell({ kubelet }: World): void {
  kubelet.fail((pod) => JSON.stringify(pod['spec']).includes(TYPO), { kind: 'image' });
}

describe('a pool at rest', () => {
  it('that the operator made, claimed and released as every day, has nothing to tell', async () => {
    const { world, users } = await open({ instances: 3, claimed: 2 });
    for (const user of users) world.release(user);
    await end(world);
    await world.run(3_600_000);
    expect(eventsIn(world)).toEqual([]);
  });

  it('tells nothing more, however often it is looked at', async () => {
    const { world } = await open({ instances: 3 });
    world.changePool('java', { image: NEW });
    await end(world);
    const before = eventsIn(world).map(({ metadata }) => metadata.resourceVersion);
    expect(before.length).toBeGreaterThan(0);
    for (let look = 0; look < 5; look += 1) expect(await world.reconcileAll()).toBe(0);
    await world.run(600_000);
    expect(eventsIn(world).map(({ metadata }) => metadata.resourceVersion)).toEqual(before);
  });

  it('that is only observed is told nothing about, whatever is wrong with it', async () => {
    const { world } = await open({ instances: 3, mode: 'observe' });
    world.changePool('java', { image: NEW });
    world.deletePart('java', 2, 'deployment');
    await world.run(300_000);
    expect(eventsIn(world)).toEqual([]);
  });
});

describe('a release', () => {
  it('is two or three lines, not one an instance: which slots, why, and that it is done', async () => {
    const { world } = await open({ instances: 20 });
    world.changePool('java', { image: NEW });
    await end(world);
    const { revision } = statusOf(world);
    const lines = told(world, 'WarmPool');
    expect(lines.filter((line) => line.startsWith('Normal Replaced')).length).toBeLessThanOrEqual(3);
    expect(slotsNamed(lines)).toEqual(Array.from({ length: 20 }, (_, at) => at + 1));
    expect(lines).toContain(
      `Normal Converged x1: Every free instance is current (revision ${revision}): 20 ready, 0 claimed`,
    );
    expect(told(world, 'AppDefinition')).toEqual(lines);
  });

  it('that a user outlasts is told once more when the user has left', async () => {
    const { world, users } = await open({ instances: 3, claimed: 1, operatorStays: false });
    world.changePool('java', { image: NEW });
    await world.settle();
    expect(told(world, 'WarmPool').join('\n')).toContain(
      '2 ready, 1 claimed; claimed and stale, kept for their users: 1',
    );
    for (const user of users) world.release(user);
    await end(world);
    expect(slotsNamed(told(world, 'WarmPool'))).toEqual([1, 2, 3]);
  });
});

describe('a person asks kubectl', () => {
  it('what became of a release: replaced, and done', async () => {
    const { world } = await open({ instances: 3 });
    world.changePool('java', { image: NEW });
    await end(world);
    const kubectl = await kubectlOn(world);
    for (const kind of ['warmpool', 'appdefinition']) {
      const text = await kubectl(`describe ${kind} java`);
      expect(text).toMatch(
        /Normal +Replaced +.*everwarm +Replaced slots? .*: stale, revision v1-\w+ is built instead/,
      );
      // In one line or in several: that depends on which of them are ready at the same time.
      expect(slotsNamed(text.split('\n'))).toEqual([1, 2, 3]);
      expect(text).toMatch(
        /Normal +Converged +.*everwarm +Every free instance is current .*: 3 ready, 0 claimed/,
      );
    }
    const table = await kubectl('get events');
    expect(table).toMatch(/^LAST SEEN +TYPE +REASON +OBJECT +MESSAGE$/m);
    expect(table).toMatch(/Normal +Replaced +warmpool\/java +Replaced slots? [1-3]/);
    const events = await kubectl('events --for warmpool/java');
    expect(events).toMatch(/Normal +Converged +WarmPool\/java +Every free instance/);
    expect(events).not.toContain('AppDefinition/java');
  });

  it('why two instances are missing: blocked by a misspelt image; and after the fix, that it is over', async () => {
    const { world } = await open({ instances: 10 });
    misspell(world);
    world.changePool('java', { image: TYPO });
    await world.run(300_000);
    const kubectl = await kubectlOn(world);
    expect(await kubectl('describe warmpool java')).toMatch(
      /Warning +Blocked +.*Slots 9, 10 wait since .*: the image cannot be pulled \(ImagePullBackOff\)\. Correct its name/,
    );
    world.changePool('java', { image: OLD });
    await end(world);
    expect(await kubectl('describe appdefinition java')).toMatch(
      /Normal +Recovered +.*Nothing needs a person any more\. .* it was Blocked: imagePull: slots 9, 10/,
    );
  });

  it('what a user lost and has again: the list of who may log in', async () => {
    const { world, users } = await open({ instances: 3, claimed: 1 });
    world.deletePart('java', 1, 'emailConfigMap');
    await world.settle();
    expect(await (await kubectlOn(world))('describe warmpool java')).toMatch(
      /Normal +Healed +.*Healed slot 1: its user has again what was lost \(ConfigMap\/instance-1-email-.*: .*\)/,
    );
    for (const user of users) world.release(user);
    await end(world);
  });

  it('what was done about a deleted Deployment and about a slot that was gone', async () => {
    const { world } = await open({ instances: 3, operatorStays: false });
    world.deletePart('java', 2, 'deployment');
    await end(world);
    for (const part of PARTS) world.deletePart('java', 3, part);
    await end(world);
    const text = await (await kubectlOn(world))('describe warmpool java');
    expect(text).toMatch(/Normal +Repaired +.*Repaired slot 2: what was missing of it is made again/);
    expect(text).toMatch(/Normal +Created +.*Created slot 3: nothing could be handed out there/);
  });
});

describe('what may go wrong with telling', () => {
  it('without the right to write Events everything else is done, and the log says what is missing', async () => {
    const { world } = await open({ instances: 3, between: withoutEvents });
    world.changePool('java', { image: NEW });
    await end(world);
    expect(eventsIn(world)).toEqual([]);
    expect(statusOf(world).counts).toMatchObject({ ready: 3, current: 3 });
    expect(world.events.filter(({ type }) => type === 'EventsLost')[0]).toMatchObject({ kind: 'forbidden' });
  });

  it('who dies before telling loses that Event, and nothing else', async () => {
    const quiet = await afterRelease({ dies: false });
    const { world } = await afterRelease({ dies: true });
    expect(portrait(world)).toEqual(portrait(quiet.world));
    expect(told(world, 'WarmPool').length).toBeLessThanOrEqual(told(quiet.world, 'WarmPool').length);
    expect(told(world, 'WarmPool').join('\n')).toContain('Every free instance is current');
    await expectRest(world);
  });
});

/** A release of three; Everwarm may die at the first Event that it wants to write, and is started again. */
async function afterRelease({ dies }: { dies: boolean }): Promise<{ world: World }> {
  let hasDied = false;
  const death = (api: KubeApi): KubeApi => ({
    ...api,
    create: (resource, namespace, body) => {
      if (!dies || hasDied || resource.plural !== EVENTS.plural) return api.create(resource, namespace, body);
      hasDied = true;
      world.stopEverwarm();
      return new Promise<never>(() => undefined);
    },
  });
  const { world } = await open({ instances: 3, between: death });
  world.changePool('java', { image: NEW });
  if (dies) {
    await world.runUntil(() => hasDied);
    world.startEverwarm();
  }
  await end(world);
  return { world };
}

function withoutEvents(api: KubeApi): KubeApi {
  return {
    ...api,
    create: async (resource, namespace, body) =>
      resource.plural === EVENTS.plural
        ? {
            kind: 'forbidden',
            message: 'events is forbidden: User "everwarm" cannot create resource "events"',
          }
        : api.create(resource, namespace, body),
  };
}

/** Every slot that some line names, in rising order. */
function slotsNamed(lines: readonly string[]): readonly number[] {
  const found = lines.flatMap((line) => /Replaced slots? ([0-9, -]+):/.exec(line)?.[1]?.split(', ') ?? []);
  const all = found.flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return Array.from({ length: last - first + 1 }, (_, at) => first + at);
  });
  return [...new Set(all)].sort((a, b) => a - b);
}
