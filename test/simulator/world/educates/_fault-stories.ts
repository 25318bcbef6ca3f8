import type { KubeApi } from '../../../../src/kube/api.ts';
import { WORKSHOP_ENVIRONMENTS } from '../../../../src/platform/educates/resources.ts';
import type { PortalFaults } from '../../../../src/simulator/world/educates/portal-faults.ts';
import { campus, JAVA, SETTINGS, sessions } from './_campus.ts';
import type { EducatesWorld } from './_world.ts';

const OLD_AND_NEW = ['campus-labs-w01 Stopping', 'campus-labs-w02 Running'];

interface FaultStory {
  readonly fault: keyof PortalFaults;
  readonly what: string;
  readonly tell: (faults: Partial<PortalFaults>) => Promise<EducatesWorld>;
  readonly see?: (world: EducatesWorld) => Promise<readonly string[]>;
  readonly observed: readonly string[];
  readonly mended: readonly string[];
}

/** The server loses the portal's first deletion of an environment. */
function refusesOnce(api: KubeApi): KubeApi {
  let isOver = false;
  return {
    ...api,
    delete: async (resource, place, options) => {
      if (resource.kind !== WORKSHOP_ENVIRONMENTS.kind || isOver) return api.delete(resource, place, options);
      isOver = true;
      return { kind: 'unknown', message: 'the server is away' };
    },
  };
}

/** How each fault shows, with it and without. */
export const STORIES: readonly FaultStory[] = [
  {
    fault: 'forgetsCreations',
    what: 'an environment whose name is taken',
    tell: async (faults) => {
      const world = await campus({ faults }, []);
      await world.workshop(JAVA.name);
      const body = { kind: 'WorkshopEnvironment', metadata: { name: 'campus-labs-w01' } };
      const spec = { workshop: { name: 'somebody-elses' } };
      const apiVersion = 'training.educates.dev/v1beta1';
      await world.api().create(WORKSHOP_ENVIRONMENTS, undefined, { apiVersion, ...body, spec });
      await world.setPortal({ workshops: [JAVA] });
      await world.run(60_000);
      return world;
    },
    observed: ['campus-labs-w01 Pending'],
    mended: ['campus-labs-w01 Pending', 'campus-labs-w02 Running'],
  },
  {
    fault: 'ignoresStarting',
    what: 'a Workshop that changes while its environment is STARTING',
    tell: async (faults) => {
      const world = await campus({ faults }, []);
      await world.workshop(JAVA.name);
      world.portal.lockDatabase(20_000);
      await world.setPortal({ portal: SETTINGS, workshops: [JAVA] });
      await world.run(5_000);
      await world.workshop(JAVA.name, { vendor: 'campus' });
      await world.run(30_000);
      await world.annotate(WORKSHOP_ENVIRONMENTS, 'campus-labs-w01', '1');
      await world.run(5_000);
      return world;
    },
    observed: ['campus-labs-w01 Running'],
    mended: OLD_AND_NEW,
  },
  {
    fault: 'comparesOnEventsOnly',
    what: 'updates that are switched on after the Workshop changed',
    tell: async (faults) => {
      const world = await campus({ faults });
      await world.setPortal({ portal: { ...SETTINGS, updates: { workshop: false } } });
      await world.run(2_000);
      await world.workshop(JAVA.name, { vendor: 'campus' });
      await world.run(2_000);
      await world.setPortal({ portal: SETTINGS });
      await world.run(5_000);
      return world;
    },
    observed: ['campus-labs-w01 Running'],
    mended: OLD_AND_NEW,
  },
  {
    fault: 'losesLabelledEntries',
    what: 'a Workshop that changes under an entry with labels',
    tell: async (faults) => {
      const world = await campus({ faults }, [
        { ...JAVA, labels: [{ name: 'track', value: 'java' }] } as object & typeof JAVA,
      ]);
      await world.workshop(JAVA.name, { vendor: 'campus' });
      await world.run(60_000);
      return world;
    },
    observed: [],
    mended: ['campus-labs-w02 Running'],
  },
  {
    fault: 'leaksEnvironments',
    what: 'a deletion that the server never got',
    tell: async (faults) => {
      const world = await campus({ faults, between: refusesOnce });
      await world.workshop(JAVA.name, { vendor: 'campus' });
      await world.run(120_000);
      return world;
    },
    observed: OLD_AND_NEW,
    mended: ['campus-labs-w02 Running'],
  },
  {
    fault: 'strandsSessions',
    what: 'session-manager, killed after it made the namespace of a session',
    tell: async (faults) => {
      const world = await campus({ faults }, []);
      await world.workshop(JAVA.name);
      world.store.onCommit(({ type, resource, object }) => {
        const isOfSession = object.metadata.name === 'campus-labs-w01-s001';
        if (type === 'ADDED' && resource.kind === 'Namespace' && isOfSession) world.sessionManager.stop();
      });
      await world.setPortal({ workshops: [{ ...JAVA, initial: 1, reserved: 1 }] });
      await world.run(5_000);
      world.sessionManager.start();
      await world.run(200_000);
      return world;
    },
    see: sessions,
    observed: ['campus-labs-w01-s001 Pending (no url)'],
    mended: ['campus-labs-w01-s001 Available'],
  },
];
