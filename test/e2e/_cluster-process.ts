/**
 * A cluster with Theia Cloud in a process of its own: API server, controllers, kubelet and the stand-in of the operator; or, with
 * the address of a real API server, what works on a namespace of that one. Its parent asks it by messages.
 */
import { systemClock as clock, systemRandom as random } from '../../src/clock.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { APP_DEFINITIONS_V1BETA11, DEPLOYMENTS, SESSIONS } from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import { createTruthReader } from '../../src/simulator/truth.ts';
import {
  appDefinition,
  installBaseObjects,
  installOperatorDeployment,
  OPERATOR_DEPLOYMENT_NAME,
  RECORDED_SETTINGS as settings,
} from '../../src/simulator/world/theia-install.ts';
import { createTheiaOperator } from '../../src/simulator/world/theia-operator.ts';
import { createUsers } from '../../src/simulator/world/users.ts';
import { flawsIn, harmBy, portraitOf, serving } from './_judge.ts';
import { makeNamespace, realStage } from './_real-stage.ts';
import { embeddedStage } from './_stage.ts';
import { type Asked, AWAY_MAX, INSTANCES, NEW, POOL, type Said, type State } from './_words.ts';

const USER = 'somebody@example.org';
const [, , directory = '', namespace = '', realAddress = ''] = process.argv;

const stage =
  realAddress === ''
    ? await embeddedStage(directory, namespace)
    : await realStage(JSON.parse(realAddress), namespace);
const truth = createTruthReader();
const harm: string[] = [];
let writes = 0;
let fewest = Number.POSITIVE_INFINITY;
let armed: { readonly at: number; readonly pid: number } | undefined;
stage.follow((commit) => {
  if (armed !== undefined && stage.mayBeOurs(commit)) harm.push(...harmBy(commit, truth));
  truth.apply(commit);
  if (truth.pools().includes(POOL)) fewest = Math.min(fewest, serving(truth));
});
stage.onWrite(() => {
  writes += 1;
  if (armed?.at === writes) process.kill(armed.pid, 'SIGKILL');
});

const person = stage.as('person');
if (realAddress !== '') await makeNamespace(JSON.parse(realAddress), namespace);
await installBaseObjects(person, { namespace });
await installOperatorDeployment(person, { namespace, settings });
// The stand-in is no pod: the Deployment is there for its arguments alone.
await agreed(
  person.patch(
    DEPLOYMENTS,
    { namespace, name: OPERATOR_DEPLOYMENT_NAME },
    { type: 'merge', patch: { spec: { replicas: 0 } } },
  ),
);
const operator = createTheiaOperator({ api: stage.as('operator'), clock, random, namespace, settings });
const users = createUsers({ api: person, namespace });

async function answer(asked: Asked): Promise<State | undefined> {
  switch (asked.ask) {
    case 'fill':
      await fill();
      return undefined;
    case 'arm':
      writes = 0;
      armed = asked;
      return undefined;
    case 'release':
      fewest = Number.POSITIVE_INFINITY;
      await agreed(
        person.patch(
          APP_DEFINITIONS_V1BETA11,
          { namespace, name: POOL },
          { type: 'merge', patch: { spec: { image: asked.image } } },
        ),
      );
      await operator.start();
      return undefined;
    case 'break': {
      const { name = '', uid } = workload()?.metadata ?? {};
      await agreed(person.delete(DEPLOYMENTS, { namespace, name }, { propagation: 'Background' }));
      await until(() => workload()?.metadata.uid !== uid);
      return undefined;
    }
    case 'state': {
      const isKnown = truth.object(WARM_POOLS, POOL)?.['status'] !== undefined;
      return { writes, isKnown, flaws: flawsIn(truth, NEW), harm, fewest, portrait: portraitOf(truth) };
    }
  }
}

/** The Deployment of the highest slot. */
function workload(): KubeObject | undefined {
  return truth.workloadOf(POOL, String(INSTANCES));
}

async function fill(): Promise<void> {
  await operator.start();
  const definition = appDefinition(POOL, { minInstances: INSTANCES, maxInstances: 2 * INSTANCES });
  await agreed(person.create(APP_DEFINITIONS_V1BETA11, namespace, definition));
  await agreed(
    person.create(WARM_POOLS, namespace, {
      apiVersion: 'everwarm.dev/v1alpha1',
      kind: 'WarmPool',
      metadata: { name: POOL },
      spec: { rollout: { maxUnavailable: AWAY_MAX } },
    }),
  );
  await until(() => serving(truth) === INSTANCES);
  await agreed(users.come(USER, POOL));
  await until(() => [...truth.objects(SESSIONS).values()].some(isHandled));
  await operator.stop('terminate');
}

function isHandled(session: { readonly [field: string]: unknown }): boolean {
  return (session['status'] as { operatorStatus?: string } | undefined)?.operatorStatus === 'HANDLED';
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await clock.sleep(20);
}

async function agreed(outcome: Promise<{ readonly kind: string; readonly message?: string }>): Promise<void> {
  const { kind, message } = await outcome;
  if (kind !== 'ok') throw new Error(`${kind}: ${message}`);
}

process.on('message', (asked: Asked) => {
  answer(asked).then(
    (value) => say({ type: 'answer', id: asked.id, value }),
    (error: Error) => say({ type: 'answer', id: asked.id, error: error.message }),
  );
});
// Nobody is left to ask: whoever started this is gone.
process.on('disconnect', () => process.exit(0));
say({ type: 'ready', value: stage.kubeconfig });

function say(said: Said): void {
  process.send?.(said);
}
