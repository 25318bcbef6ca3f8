import { expect, it } from 'vitest';
import {
  APP_DEFINITIONS_V1BETA11,
  CONFIG_MAPS,
  DEPLOYMENTS,
  HTTP_ROUTES,
  SERVICES,
  SESSIONS,
} from '../../../src/platform/theia-cloud/resources.ts';
import {
  AS_OBSERVED,
  FAULTS,
  type FaultName,
  onlyFaults,
} from '../../../src/simulator/world/operator-faults.ts';
import { appDefinition } from '../../../src/simulator/world/theia-install.ts';
import { NAMESPACE, POOL, type World, type WorldOptions } from './installation.ts';
import {
  addForeignOwner,
  claim,
  external,
  find,
  learner,
  namesOf,
  pool,
  release,
  running,
  sessionOf,
  statusesOf,
} from './story.ts';

/** Something that users of the platform suffer from an operator that has this one fault, and not from one that has none. */
interface Suffering {
  readonly fault: FaultName;
  readonly what: string;
  /** Faults without which there is no occasion for it. */
  readonly beside?: readonly FaultName[];
  readonly happens: (options: WorldOptions) => Promise<boolean>;
}

const NEXT = { image: 'registry.example.org/ide/java-17:2.0.0' };

async function untilStatus(world: World, number: number, status: string): Promise<void> {
  while ((await sessionOf(world, number))?.status?.operatorStatus !== status) {
    if (!(await world.clock.step(Number.POSITIVE_INFINITY))) throw new Error(`never ${status}`);
  }
}

async function restart(world: World): Promise<void> {
  await world.operator.stop();
  await world.clock.advance(10_000);
  await world.startOperator();
  await world.clock.advance(5_000);
}

const isError = async (world: World, number: number): Promise<boolean> =>
  (await sessionOf(world, number))?.status?.operatorStatus === 'ERROR';

const SUFFERINGS: readonly Suffering[] = [
  {
    fault: 'dropsInterrupted',
    what: 'a start that a restart interrupts ends in ERROR',
    happens: async (options) => {
      const world = await pool(2, [], options);
      await world.users.come(learner(1), POOL);
      await untilStatus(world, 1, 'HANDLING');
      await restart(world);
      return isError(world, 1);
    },
  },
  {
    fault: 'limitsOnlyLazily',
    what: 'a user who may have no Session gets a warm one',
    happens: async (options) => {
      const world = await pool(2, [1], { ...options, sessionsPerUser: 0 });
      return !(await isError(world, 1));
    },
  },
  {
    fault: 'endsOnConflict',
    what: 'somebody else who writes on a Session ends the operator',
    happens: async (options) => {
      const world = await pool(2, [], options);
      const sent = world.record();
      await world.users.come(learner(1), POOL);
      const isAbout = ({ verb, resource }: { verb: string; resource: string }) =>
        verb === 'get' && resource === 'sessions';
      const readsBefore = options.faults?.claimsForTheGone === false ? 3 : 2;
      while (sent().filter(isAbout).length < readsBefore) await world.clock.step(Number.POSITIVE_INFINITY);
      const { metadata } = (await sessionOf(world, 1)) ?? { metadata: { name: '' } };
      const patch = { type: 'merge', patch: { metadata: { labels: { touched: 'yes' } } } } as const;
      await world.api.patch(SESSIONS, { namespace: NAMESPACE, name: metadata.name }, patch);
      await world.clock.advance(3_000);
      return !world.operator.isRunning();
    },
  },
  {
    fault: 'forgetsUrls',
    what: 'a Session whose URL did not answer before a restart never gets one',
    happens: async (options) => {
      let answers = false;
      const world = await pool(2, [1], { ...options, urlAnswers: () => answers });
      await world.operator.stop();
      answers = true;
      await world.clock.advance(10_000);
      await world.startOperator();
      await world.clock.advance(60_000);
      return ((await sessionOf(world, 1))?.status as { url?: string } | undefined)?.url === undefined;
    },
  },
  {
    fault: 'gatesOnce',
    what: 'a pool that was shipped before its route is never built',
    beside: ['neverLooksAgain'],
    happens: async (options) => {
      const world = await running(options);
      const place = { namespace: NAMESPACE, name: 'ide-instances-route' };
      const route = await find(world, HTTP_ROUTES, place.name);
      await world.api.delete(HTTP_ROUTES, place, {});
      await world.createPool(2);
      const { name } = route.metadata;
      await world.api.create(HTTP_ROUTES, NAMESPACE, { ...route, metadata: { name } });
      await world.clock.advance(60_000);
      return (await namesOf(world, DEPLOYMENTS)).length === 0;
    },
  },
  {
    fault: 'ownsSharedRoute',
    what: 'the last AppDefinition takes the shared route along',
    happens: async (options) => {
      const world = await pool(1, [], options);
      await world.api.delete(APP_DEFINITIONS_V1BETA11, { namespace: NAMESPACE, name: POOL }, {});
      await world.clock.advance(5_000);
      return !(await world.all(HTTP_ROUTES)).some(({ metadata }) => metadata.name === 'ide-instances-route');
    },
  },
  {
    fault: 'hearsTwice',
    what: 'a Session that came while the operator was down is handled twice',
    happens: async (options) => {
      const world = await pool(2, [], options);
      await world.operator.stop();
      await world.users.come(learner(1), POOL);
      const statuses = statusesOf(world, 1);
      await world.clock.advance(10_000);
      await world.startOperator();
      await world.clock.advance(5_000);
      return statuses().filter((status) => status === 'HANDLING').length === 2;
    },
  },
  {
    fault: 'hidesErrors',
    what: 'the user of a Session in ERROR sees nothing but a time-out',
    happens: async (options) => {
      const world = await running(options);
      await claim(world, 1);
      return (await sessionOf(world, 1))?.status?.error === undefined;
    },
  },
  {
    fault: 'replacesAllAtOnce',
    what: 'a change leaves no instance that serves',
    happens: async (options) => {
      const world = await pool(3, [], options);
      let fewest = 3;
      world.store.onCommit(({ resource }) => {
        if (resource.plural !== 'deployments') return;
        const { body } = world.store.execute({
          verb: 'list',
          resource: DEPLOYMENTS,
          namespace: NAMESPACE,
          user: 'test',
        });
        const items = body['items'] as readonly {
          readonly status?: { readonly availableReplicas?: number };
        }[];
        fewest = Math.min(fewest, items.filter(({ status }) => (status?.availableReplicas ?? 0) > 0).length);
      });
      await world.changePool(NEXT);
      await world.clock.advance(60_000);
      expect(JSON.stringify(await world.all(DEPLOYMENTS))).not.toContain('java-17:1.0.0');
      return fewest === 0;
    },
  },
  {
    fault: 'claimsWithoutSwap',
    what: 'a claim goes to a slot that was withdrawn since the list',
    beside: ['neverLooksAgain'],
    happens: async (options) => {
      const world = await pool(2, [], options);
      const isListed = world.record();
      await world.users.come(learner(1), POOL);
      while (!isListed().some(({ verb, resource }) => verb === 'list' && resource === 'services'))
        await world.clock.step(Number.POSITIVE_INFINITY);
      await addForeignOwner(world, await external(world, 1));
      await world.clock.advance(5_000);
      const owners = (await external(world, 1)).metadata.ownerReferences ?? [];
      return owners.some(({ kind }) => kind === 'Session');
    },
  },
  {
    fault: 'deletesUnguarded',
    what: 'what was claimed since the list is deleted',
    beside: ['neverLooksAgain', 'replacesAllAtOnce', 'judgesByGeneration'],
    happens: async (options) => {
      const world = await pool(1, [], options);
      const isListed = world.record();
      await world.changePool(NEXT);
      while (!isListed().some(({ verb, resource }) => verb === 'list' && resource === 'services'))
        await world.clock.step(Number.POSITIVE_INFINITY);
      const before = await external(world, 1);
      await addForeignOwner(world, before);
      await world.clock.advance(2_000);
      return (await external(world, 1)).metadata.uid !== before.metadata.uid;
    },
  },
  {
    fault: 'stopsAtTakenName',
    what: 'one name that is taken keeps a pool from being built',
    happens: async (options) => {
      const world = await running(options);
      await world.operator.stop();
      await world.createPool(0);
      const app = await find(world, APP_DEFINITIONS_V1BETA11, POOL);
      const name = `instance-1-${POOL}-${app.metadata.uid?.slice(-12)}`;
      await world.api.create(SERVICES, NAMESPACE, { metadata: { name }, spec: { ports: [{ port: 1 }] } });
      await world.changePool({ minInstances: 3 });
      await world.clock.advance(10_000);
      await world.startOperator();
      await world.clock.advance(10_000);
      return (await namesOf(world, DEPLOYMENTS)).length === 0;
    },
  },
  {
    fault: 'recyclesClaimed',
    what: 'a stale slot is made anew after a release although somebody else has it by now',
    beside: ['neverLooksAgain', 'judgesByGeneration', 'deletesUnguarded', 'freesBeforeClearing'],
    happens: async (options) => {
      const world = await pool(1, [1], { gcLagMs: 5, rollsOut: false, ...options });
      await world.changePool(NEXT);
      await world.clock.advance(3_000);
      const sent = world.record();
      await world.users.go(learner(1), POOL);
      // Its last step before the recycling.
      while (!sent().some(({ verb, resource }) => verb === 'delete' && resource === 'pods'))
        await world.clock.step(Number.POSITIVE_INFINITY);
      const before = await external(world, 1);
      await addForeignOwner(world, before);
      await world.clock.advance(10_000);
      return (await external(world, 1)).metadata.uid !== before.metadata.uid;
    },
  },
  {
    fault: 'keepsFailedClaims',
    what: 'a slot on which a claim failed stays bound to the Session that failed',
    beside: ['neverLooksAgain'],
    happens: async (options) => {
      const world = await pool(1, [], { ...options, faults: { ...options.faults, claimsUnseen: true } });
      const { name } = (await find(world, DEPLOYMENTS, 'instance-1-')).metadata;
      await world.api.delete(DEPLOYMENTS, { namespace: NAMESPACE, name }, {});
      await claim(world, 1);
      await world.clock.advance(60_000);
      return (await external(world, 1)).metadata.ownerReferences?.length === 2;
    },
  },
  {
    fault: 'freesBeforeClearing',
    what: 'a slot is free while the allow-list still names whoever left',
    beside: ['neverLooksAgain'],
    happens: async (options) => {
      const world = await pool(1, [1], options);
      await world.users.go(learner(1), POOL);
      const isFree = async () => {
        const { labels, ownerReferences } = (await external(world, 1)).metadata;
        return ownerReferences?.length === 1 && labels?.['theia-cloud.io/user'] === undefined;
      };
      while (!(await isFree())) await world.clock.step(Number.POSITIVE_INFINITY);
      return JSON.stringify(await find(world, CONFIG_MAPS, 'instance-1-email')).includes(learner(1));
    },
  },
  {
    fault: 'claimsSidecars',
    what: 'a sidecar whose name comes first is handed out',
    happens: async (options) => {
      const world = await running(options);
      const sidecar = { name: 'gopls', image: 'registry.example.org/ide/gopls:1', port: 5000 };
      await world.createPool(1, { sidecars: [sidecar] });
      await claim(world, 1);
      const owners = (await find(world, SERVICES, 'instance-1-gopls')).metadata.ownerReferences ?? [];
      return owners.some(({ kind }) => kind === 'Session');
    },
  },
  {
    fault: 'recyclesForSidecars',
    what: 'every release throws the instance away',
    beside: ['neverLooksAgain'],
    happens: async (options) => {
      const world = await running(options);
      const sidecar = { name: 'lsp-server', image: 'registry.example.org/ide/lsp:1', port: 5000 };
      await world.createPool(1, { sidecars: [sidecar] });
      await claim(world, 1);
      const before = (await find(world, DEPLOYMENTS, 'instance-1-java')).metadata.uid;
      await release(world, 1);
      await world.clock.advance(30_000);
      return (await find(world, DEPLOYMENTS, 'instance-1-java')).metadata.uid !== before;
    },
  },
];

it.each(SUFFERINGS)('$fault: $what', async ({ fault, beside = [], happens }) => {
  expect(await happens({ faults: onlyFaults(fault, ...beside) }), 'with it').toBe(true);
  expect(await happens({ faults: onlyFaults(...beside) }), 'without it').toBe(false);
  expect(await happens({ faults: AS_OBSERVED }), 'with all faults').toBe(true);
});

it('two sidecars of one name keep an AppDefinition from being handled at all', async () => {
  const world = await running();
  const sidecar = { name: 'twin', image: 'registry.example.org/ide/twin:1', port: 5000 };
  const body = appDefinition(POOL, { sidecars: [sidecar, sidecar] });
  await world.api.create(APP_DEFINITIONS_V1BETA11, NAMESPACE, body);
  await world.clock.advance(5_000);
  expect(await namesOf(world, SERVICES)).toEqual([]);
});

it('every fault has its numbers, and no number stands for nothing', () => {
  for (const [name, numbers] of Object.entries(FAULTS)) {
    expect(numbers.length, name).toBeGreaterThan(0);
    for (const number of numbers) expect(number).toMatch(/^(F([1-9]|[1-4][0-9]|5[0-3])|N[1-7])$/);
  }
});
