import { describe, expect, it } from 'vitest';
import { instanceView } from '../../src/app/instance-view.ts';
import { lookAtPools, type PoolLook } from '../../src/app/look.ts';
import { parseInstanceName } from '../../src/app/names.ts';
import { planView } from '../../src/app/plan-view.ts';
import { poolView } from '../../src/app/pool-view.ts';
import { explainInstance } from '../../src/app/queries.ts';
import { planScreen } from '../../src/cli/plan-screen.ts';
import { createPaint } from '../../src/cli/render.ts';
import { screenOf } from '../../src/cli/status-screen.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { createPlatforms } from '../../src/platform/registry.ts';
import { AT_REST, cluster, edited, NOW, portal, recorded } from '../platform/educates/_portal.ts';

const paint = createPaint(false);
const NO_THEIA = ['appdefinitions'];
/** Two entries: one with a user in it, one that was never taken into use. */
const STUCK: readonly KubeObject[] = [
  ...AT_REST.filter(({ metadata }) => !metadata.name.endsWith('-s001')),
  recorded('claim/2-session-allocated'),
  edited(recorded('session-reserved/campus-labs-w01-s001'), {
    metadata: { name: 'campus-labs-w01-s002', uid: 's2' },
  }),
];

const served = (objects: readonly KubeObject[], namespaces = ['campus-labs-ui']) => ({
  id: 'here',
  server: 'https://here',
  api: cluster(objects, { absent: NO_THEIA }).api,
  namespaces,
  platforms: createPlatforms({ mode: 'asFound' }),
});
const look = (objects: readonly KubeObject[]): Promise<readonly PoolLook[]> =>
  lookAtPools(served(objects), 'all');

async function statusOf(objects: readonly KubeObject[]): Promise<string> {
  const views = (await look(objects)).map(poolView);
  return screenOf(views, { paint, now: Date.parse(NOW), width: undefined }).join('\n');
}

async function planOf(objects: readonly KubeObject[]): Promise<string> {
  return (await look(objects))
    .flatMap((one) => planScreen(planView(one), { paint, width: undefined }))
    .join('\n');
}

async function explain(text: string, objects = STUCK, namespaces?: string[]) {
  const parsed = parseInstanceName(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return await explainInstance(served(objects, namespaces), parsed.name);
}

describe('a portal on the screen', () => {
  it('at rest is one line, and nothing is to be done', async () => {
    expect(await statusOf(AT_REST)).toMatch(/^campus-labs +2 +2 +2 +0 +0 +0 +Converged +observe$/m);
    expect(await planOf(AT_REST)).toMatch(/mode observe: nothing is done\n +nothing to do$/);
  });

  it('says what is wrong, and who sits where', async () => {
    const screen = await statusOf(STUCK);
    expect(screen).toMatch(/^campus-labs +2 +1 +2 +0 +1 +0 +NeverActivated +observe$/m);
    expect(screen).toContain(
      'NeverActivated: lab-web-ide-teachers: WorkshopEnvironment campus-labs-w02 is ready, and the portal has never',
    );
    expect(screen).toMatch(/lab-java-basics +ready .* campus-labs-w01-s001/);
    expect(screen).toMatch(/lab-web-ide-teachers +pending .* not ready$/m);
  });

  it('tells in the plan what was found, and what guard would begin with', async () => {
    const plan = await planOf(STUCK);
    expect(plan).toMatch(
      /mode observe: nothing is done. In mode guard it would begin with this\n {2}1. slot lab-web-ide-teachers: annotate WorkshopEnvironment campus-labs-w02/,
    );
    expect(plan).toMatch(/found {2}slot lab-web-ide-teachers: WorkshopEnvironment campus-labs-w02/);
    expect(plan).not.toMatch(/nothing to do|withdraw|Deployment/);
    const [view] = (await look(STUCK)).map(planView);
    expect(view).toMatchObject({
      carriedOut: false,
      actions: [
        {
          slot: 'lab-web-ide-teachers',
          what: 'annotate WorkshopEnvironment campus-labs-w02',
          riskLevel: 'none',
        },
      ],
      found: [{ slot: 'lab-web-ide-teachers', reason: 'NeverActivated' }],
    });
  });

  it('has drifted where the portal itself keeps what is stale', async () => {
    const off = portal(undefined, { updates: { workshop: false } });
    const stale = [off, ...AT_REST.slice(1), recorded('workshop-updated/2-workshop')].filter(
      ({ kind, metadata }) =>
        kind !== 'Workshop' || metadata.name !== 'lab-java-basics' || metadata.generation === 2,
    );
    expect(await statusOf(stale)).toMatch(/^campus-labs +2 +2 +1 +1 +0 +0 +Drifted +observe$/m);
    expect(await planOf(stale)).toContain('spec.portal.updates.workshop is off');
  });
});

describe('what is explained', () => {
  it.each([
    'campus-labs-ui/campus-labs/lab-java-basics',
    'here/educates/campus-labs-ui/campus-labs/lab-java-basics',
    'campus-labs/lab-java-basics',
    'campus-labs-w01',
    'campus-labs-ui/campus-labs-w01',
    'campus-labs-w01-s002',
  ])('goes by %s', async (text) => {
    expect(await explain(text)).toMatchObject({
      pool: 'here/educates/campus-labs-ui/campus-labs',
      slot: 'lab-java-basics',
    });
  });

  it('is found from another namespace by its full name', async () => {
    const view = await explain('campus-labs-ui/campus-labs/lab-java-basics', STUCK, ['default']);
    expect(view.slot).toBe('lab-java-basics');
  });

  it('is the environment with its sessions, and what says that a user has one', async () => {
    const { parts, facts, state } = await explain('campus-labs-w01');
    expect(state).toBe('ready');
    expect(parts.map(({ kind, name }) => `${kind}/${name}`)).toEqual([
      'WorkshopEnvironment/campus-labs-w01',
      'WorkshopSession/campus-labs-w01-s001',
      'WorkshopSession/campus-labs-w01-s002',
    ]);
    expect(facts).toContain('campus-labs-w01-s001 is CLAIMED: status.educates.user is set');
    expect(facts).toContain('campus-labs-w01-s002 is WARM: it has a url');
  });

  it('says what comes next', async () => {
    expect((await explain('campus-labs-w02')).next).toEqual([
      expect.stringMatching(
        /^mode observe, so not done: annotate WorkshopEnvironment campus-labs-w02, because /,
      ),
      expect.stringMatching(/^found: .*never taken it into use/),
    ]);
  });
});

it('no password is in anything that is looked at or shown', async () => {
  const objects = [...STUCK, recorded('claim/3-secret-user'), recorded('claim/3-allocation-done')];
  expect(JSON.stringify(objects)).toContain('placeholder');
  const looks = await look(objects);
  const explained = looks.flatMap((one) =>
    one.observation.observed.instances.map((instance) => instanceView(one, instance)),
  );
  const shown = [looks, looks.map(poolView), looks.map(planView), explained];
  expect(JSON.stringify(shown)).not.toMatch(/placeholder|cGxhY2Vob2xkZXI/);
  expect(looks[0]?.objects.map(({ kind }) => kind)).toContain('TrainingPortal');
});
