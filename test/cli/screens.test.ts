import { describe, expect, it } from 'vitest';
import { planView } from '../../src/app/plan-view.ts';
import { poolView } from '../../src/app/pool-view.ts';
import { planScreen } from '../../src/cli/plan-screen.ts';
import { createPaint } from '../../src/cli/render.ts';
import { screenOf } from '../../src/cli/status-screen.ts';
import { SESSIONS } from '../../src/platform/theia-cloud/resources.ts';
import { createWorld, type World } from '../../src/simulator/world.ts';
import { firstDay, look, NEW } from './_observed.ts';

const paint = createPaint(false);

/** Everything that makes an instance. */
const PARTS = [
  'externalService',
  'internalService',
  'deployment',
  'proxyConfigMap',
  'emailConfigMap',
] as const;

async function screenNow(world: World, width?: number): Promise<string> {
  const views = (await look(world)).map(poolView);
  return screenOf(views, { paint, now: world.clock.now(), width }).join('\n');
}

async function plan(world: World, width?: number): Promise<string> {
  const views = (await look(world)).map(planView);
  return views.flatMap((view) => planScreen(view, { paint, width })).join('\n');
}

async function comes(world: World): Promise<string> {
  const session = world.claim('java');
  await world.run(3_000);
  return session;
}

/** The line of the table that begins with these slots. */
const row = (screen: string, slots: string): string =>
  screen.split('\n').find((line) => line.startsWith(`  ${slots} `)) ?? 'no such line';

describe('the first day: with read rights alone', () => {
  it('nothing needs to be said about a pool that is as it should be', async () => {
    const world = await firstDay(3);
    expect(await screenNow(world)).toMatch(/^java +3 +3 +3 +0 +0 +0 +Converged +observe$/m);
    expect(row(await screenNow(world), '1-3')).toMatch(/1-3 +ready +:pr-170 +\d+s +-$/);
    expect(await plan(world)).toMatch(/mode observe: nothing is done\n +nothing to do$/);
  });

  it('who sits on an old image, which one it should be, and since when', async () => {
    const world = await firstDay();
    const anna = await comes(world);
    world.changePool('java', { image: NEW });
    await world.run(60_000);
    const screen = await screenNow(world);
    expect(screen).toMatch(/^java +10 +9 +0 +9 +1 +0 +Drifted +observe$/m);
    expect(screen).toContain(`should have ${NEW}`);
    expect(row(screen, '1')).toMatch(new RegExp(`1 +claimed +:pr-170 +1.1m +${anna} +stale$`));
    expect(row(screen, '2-10')).toMatch(/2-10 +ready +:pr-170 +[\d.]+m +- +stale$/);
  });

  it('what is dirty and what is missing', async () => {
    const world = await firstDay();
    const users = [await comes(world), await comes(world)];
    await world.stopOperator('terminate');
    world.release(users[0] ?? '');
    world.deletePart('java', 9, 'deployment');
    for (const part of PARTS) world.deletePart('java', 8, part);
    await world.run(2_000);
    const screen = await screenNow(world);
    expect(row(screen, '1')).toMatch(/dirty +:pr-170 .* dirty$/);
    expect(screen).toContain('slot 1: dirty: its last user left: ');
    expect(row(screen, '8')).toMatch(/8 +missing +- +- +- +missing$/);
    expect(row(screen, '9')).toMatch(/9 +pending .* incomplete$/);
  });

  it('who is locked out, whose claim is split, which failed Session still holds an instance, who is beyond the number', async () => {
    const world = await firstDay();
    const [ben, carl, dora] = [await comes(world), await comes(world), await comes(world)];
    world.editPart('java', 1, 'emailConfigMap', { data: { 'authenticated-emails-list': '' } });
    world.editPart('java', 2, 'internalService', { metadata: { ownerReferences: null } });
    const status = { operatorStatus: 'ERROR', operatorMessage: 'Failed' };
    world.cluster.admin.merge(SESSIONS, { name: dora, subresource: 'status' }, { status });
    const screen = await screenNow(world);
    expect(row(screen, '1')).toMatch(new RegExp(`claimed .* ${ben} +locked out$`));
    expect(screen).toContain('slot 1: locked out: its allow-list is empty: login is refused');
    expect(row(screen, '2')).toMatch(new RegExp(`claimed .* ${carl} +split claim$`));
    expect(screen).toContain("slot 2: split claim: internal Service is nobody's");
    expect(row(screen, '3')).toMatch(new RegExp(`claimed .* ${dora} +failed claim$`));
    world.changePool('java', { minInstances: 1 });
    expect(row(await screenNow(world), '2')).toContain('surplus');
  });

  it('what guard would do, in which order and at which risk', async () => {
    const world = await firstDay();
    await comes(world);
    world.changePool('java', { image: NEW });
    await world.run(30_000);
    world.deletePart('java', 9, 'deployment');
    const steps = (await plan(world)).split('\n');
    const text = steps.join('\n');
    expect(text).toContain('mode observe: nothing is done. In mode guard it would begin with this');
    expect(text).toMatch(/slot 9: create what it lacks\n +because a part of it is missing\n +risk +room: /);
    expect(text).toMatch(
      /slot 10: withdraw it.*\n +because .*containers.*image.*\n +risk +fewer warm: .*8 are ready now/,
    );
    expect(text).toMatch(
      /later +slots 2-8: as many are away as may be \(maxUnavailable 25%\); risk fewer warm/,
    );
  });

  it('what the operator would be given time for first: one look cannot wait', async () => {
    const world = await firstDay(3);
    for (const part of PARTS) world.deletePart('java', 2, part);
    expect(await plan(world)).toMatch(/slot 2: create what it lacks\n +because the slot is empty/);
  });

  it('fits an ordinary terminal: nothing is wider than 80 columns, and ten slots are one screen', async () => {
    const world = await firstDay();
    await comes(world);
    world.changePool('java', { image: NEW });
    await world.run(30_000);
    for (const screen of [await screenNow(world, 80), await plan(world, 80)]) {
      const lines = screen.split('\n');
      expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
      expect(lines.length).toBeLessThanOrEqual(24);
    }
  });

  it('of many pools a line each, and under it only what is not as it should be', async () => {
    const world = await firstDay(2);
    for (let at = 1; at < 20; at += 1) world.createPool(`course-${at}`, { minInstances: 1 });
    await world.run(60_000);
    world.changePool('course-7', { image: NEW });
    const lines = (await screenNow(world, 120)).split('\n');
    expect(lines.slice(1, 21).every((line) => / (Converged|Drifted|Settling) +observe$/.test(line))).toBe(
      true,
    );
    expect(lines.filter((line) => line.includes('should have'))).toEqual([`course-7  should have ${NEW}`]);
    expect(lines.length).toBeLessThanOrEqual(26);
  });
});

describe('where Everwarm is at work', () => {
  it('its pools are known as guarded although their WarmPools do not say so', async () => {
    const world = await createWorld({ operator: { rollsOut: false } });
    world.startEverwarm();
    await world.startOperator();
    world.createPool('java', { minInstances: 2 });
    await world.settle();
    expect(await screenNow(world)).toMatch(/^java .* Converged +guard$/m);
    world.changePool('java', { image: NEW });
    await world.runUntil(() => world.slots('java').some(({ withdrawn }) => withdrawn));
    expect(await screenNow(world)).toMatch(/slot 1: as many are away as may be/);
    world.setPolicy('java', { mode: 'observe' });
    await world.run(60_000);
    expect(await screenNow(world)).toMatch(/^java .* observe$/m);
  });
});
