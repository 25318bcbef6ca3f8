import { describe, expect, it } from 'vitest';
import { DEPLOYMENTS } from '../../../src/platform/theia-cloud/resources.ts';
import { comparable, NAMESPACE, POOL, recorded } from './installation.ts';
import { claim, expectSame, learner, PLAIN, pool, release, running } from './story.ts';

describe('the operator writes what the real one was recorded to write', () => {
  it.each([
    { file: 'a-pool-of-3-keycloak', options: {} },
    { file: 'b-pool-of-3-plain', options: PLAIN },
  ])('for a new pool of three: $file', async ({ file, options }) => {
    const world = await running(options);
    const sent = world.record();
    await world.createPool(3);
    expectSame(sent(), file);
  });

  it('for a claim with Keycloak, reads included: f-claim-eager-keycloak', async () => {
    const world = await pool(3);
    const sent = world.record();
    await world.users.come(learner(1), POOL);
    await world.clock.advance(700);
    // The recording ends before the URL was asked for.
    const untilHandled = sent().filter(({ patch }) => !JSON.stringify(patch ?? []).includes('/status/url'));
    const known = recorded('f-claim-eager-keycloak');
    expect(comparable(untilHandled.slice(0, known.length))).toEqual(comparable(known));
  });

  it('for a claim without Keycloak, up to the URL: b-claim-eager-plain', async () => {
    const world = await pool(3, [], PLAIN);
    const sent = world.record();
    await claim(world, 1);
    expectSame(sent(), 'b-claim-eager-plain');
  });

  it('for a Session that finds no free slot, reads included: g-claim-lazy-fallback-keycloak', async () => {
    const world = await pool(3, [1, 2, 3], { sessionsPerUser: 10 });
    const sent = world.record();
    await claim(world, 4);
    expectSame(sent(), 'g-claim-lazy-fallback-keycloak', () => true);
  });

  it('for the same without Keycloak: b-claim-lazy-fallback-plain', async () => {
    const world = await pool(1, [1], PLAIN);
    const sent = world.record();
    await claim(world, 5);
    expectSame(sent(), 'b-claim-lazy-fallback-plain');
  });

  it('for a release that is faster than the garbage collector, reads included: h-release-eager-keycloak', async () => {
    const world = await pool(3, [1, 2, 3], { gcLagMs: 400 });
    const sent = world.record();
    await release(world, 2);
    expectSame(sent(), 'h-release-eager-keycloak', () => true);
  });

  it('for a release that comes after the garbage collector: b-release-eager-plain', async () => {
    const world = await pool(3, [1], { ...PLAIN, gcLagMs: 1 });
    const sent = world.record();
    await release(world, 1);
    expectSame(sent(), 'b-release-eager-plain');
  });

  it('for three slots that become five, two of them claimed: i-scale-3-to-5', async () => {
    const world = await pool(3, [1, 2, 3]);
    await release(world, 2);
    const sent = world.record();
    await world.changePool({ minInstances: 5 });
    await world.clock.advance(5_000);
    expectSame(sent(), 'i-scale-3-to-5');
  });

  it('for five slots that become two, one claimed above them: i-scale-5-to-2', async () => {
    const world = await pool(5, [1, 2, 3]);
    await release(world, 2);
    const sent = world.record();
    await world.changePool({ minInstances: 2 });
    await world.clock.advance(5_000);
    expectSame(sent(), 'i-scale-5-to-2');
  });

  it('for two slots that become three, one claimed and free of its retirement: i-scale-2-to-3', async () => {
    const world = await pool(2, [1]);
    const sent = world.record();
    await world.changePool({ minInstances: 3 });
    await world.clock.advance(5_000);
    expectSame(sent(), 'i-scale-2-to-3');
  });

  it('for ten free slots that are all replaced at once: x-rollout-of-10-free', async () => {
    const world = await pool(10);
    const sent = world.record();
    await world.changePool({ image: 'registry.example.org/ide/java-17:1.1.0' });
    await world.clock.advance(8_000);
    expectSame(sent(), 'x-rollout-of-10-free');
  });

  it('for an annotation after a release that it slept through, two slots claimed: k-heal-by-annotation', async () => {
    const world = await pool(3, [1, 2]);
    await world.operator.stop();
    await world.changePool({ image: 'registry.example.org/ide/java-17:1.2.0' });
    await world.clock.advance(10_000);
    await world.startOperator();
    const sent = world.record();
    await world.annotatePool({ 'helm.sh/revision': '2' });
    await world.clock.advance(5_000);
    expectSame(sent(), 'k-heal-by-annotation');
  });

  it('for the release of the slot that was retired: i-release-of-retired-slot', async () => {
    const world = await pool(5, [1, 2, 3], { gcLagMs: 1 });
    await world.changePool({ minInstances: 2 });
    await world.clock.advance(5_000);
    const sent = world.record();
    await release(world, 3);
    expectSame(sent(), 'i-release-of-retired-slot');
  });

  it('for an image change while it runs, one slot claimed: j-image-change-modified', async () => {
    const world = await pool(3, [1]);
    const sent = world.record();
    await world.changePool({ image: 'registry.example.org/ide/java-17:1.1.0' });
    await world.clock.advance(5_000);
    expectSame(sent(), 'j-image-change-modified');
  });

  it('for an image change while it was down, that is nothing: k-image-change-while-down', async () => {
    const world = await pool(3, [1]);
    await world.operator.stop();
    await world.changePool({ image: 'registry.example.org/ide/java-17:1.2.0' });
    await world.clock.advance(10_000);
    const sent = world.record();
    await world.startOperator();
    await world.clock.advance(60_000);
    expectSame(sent(), 'k-image-change-while-down');
  });

  it('for a claim of a slot without its Deployment: l-claim-of-slot-without-deployment', async () => {
    const world = await pool(3, [1, 2]);
    const found = (await world.all(DEPLOYMENTS)).find(({ metadata }) =>
      metadata.name.startsWith('instance-3-'),
    );
    await world.api.delete(DEPLOYMENTS, { namespace: NAMESPACE, name: found?.metadata.name ?? '' }, {});
    await world.clock.advance(90_000);
    const sent = world.record();
    await claim(world, 6);
    expectSame(sent(), 'l-claim-of-slot-without-deployment');
  });
});
