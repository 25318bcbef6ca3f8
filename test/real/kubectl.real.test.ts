import { afterAll, beforeAll, expect, it } from 'vitest';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { createKubectl, type Kubectl } from './_kubectl.ts';
import { startTwoSides, type TwoSides } from './_two-sides.ts';

/** One person's session, step by step on the embedded and on the real API server: what kubectl says is the same. */

let servers: TwoSides | undefined;
let sides: readonly Kubectl[] = [];

beforeAll(async () => {
  if (findBinaries().kind === 'missing') return;
  servers = await startTwoSides();
  sides = [createKubectl(servers.embedded), createKubectl(servers.real)];
});

afterAll(async () => {
  for (const side of sides) side.close();
  await servers?.stop();
});

const CONTAINERS = [
  { name: 'main', image: 'web:1', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80 }] },
  { name: 'side', image: 'side:1' },
];
const deployment = (image: string) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web' },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: 'web' } },
    template: {
      metadata: { labels: { app: 'web' } },
      spec: { containers: CONTAINERS.map((one, at) => (at === 0 ? { ...one, image } : one)) },
    },
  },
});
const pool = (fields: object) => appDefinition('java', { ...fields });
const route = {
  apiVersion: 'gateway.networking.k8s.io/v1',
  kind: 'HTTPRoute',
  metadata: { name: 'route' },
  spec: { hostnames: ['ide.example.org'] },
};
const quota = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'q' },
  spec: { hard: { pods: '70' } },
};
const session = (name: string) => ({
  apiVersion: 'theia.cloud/v1beta8',
  kind: 'Session',
  metadata: { name },
  spec: { name, appDefinition: 'java', user: 'somebody@example.org' },
});

interface Step {
  readonly args: string;
  readonly input?: unknown;
  readonly env?: Readonly<Record<string, string>>;
}

const step = (args: string, input?: unknown, env?: Readonly<Record<string, string>>): Step => ({
  args,
  ...(input === undefined ? {} : { input }),
  ...(env === undefined ? {} : { env }),
});

const SESSION: readonly (readonly [title: string, steps: readonly Step[]])[] = [
  ['is told the version', [step('version')]],
  [
    'makes a namespace and looks at it',
    [
      step('create namespace ide'),
      step('get ns ide'),
      step('get ns ide -o yaml'),
      step('create namespace ide'),
    ],
  ],
  [
    'explains fields',
    [
      step('explain appdefinition.spec'),
      step('explain warmpool.spec.rollout'),
      step('explain session.spec.user'),
    ],
  ],
  [
    'applies, and applies again',
    [
      step('apply -f -', deployment('web:1')),
      step('apply -f -', deployment('web:1')),
      step('apply -f -', deployment('web:2')),
      step('apply -f -', pool({ minInstances: 1 })),
      step('apply -f -', pool({ minInstances: 1 })),
      step('apply -f -', pool({ minInstances: 2 })),
    ],
  ],
  [
    'is told what is wrong',
    [
      step('apply -f -', pool({ minInstances: 50 })),
      step('apply -f -', pool({ bogus: 1 })),
      step('apply -f -', pool({ image: 7 })),
      step('create -f -', session('Not_A_Name')),
      step('create -f -', { ...session('x'), apiVersion: 'theia.cloud/v9' }),
      step('get ad nothing'),
      step('get nothings'),
      step('delete session nobody'),
      step('label ad java =x'),
    ],
  ],
  ['shows a difference', [step('diff -f -', pool({ minInstances: 3, image: 'ide:9' }))]],
  [
    'gets tables, JSON and YAML',
    [
      step('get appdefinitions'),
      step('get ad -o wide'),
      step('get ad java -o yaml --show-managed-fields=false'),
      step('get ad java -o json --show-managed-fields=false'),
      step('get deploy web -o jsonpath={.spec}'),
      step('get deploy web -o jsonpath={.spec.template.spec.containers[*].image}'),
      step('get deploy,appdefinitions -o name'),
      step('get warmpools'),
      step('get sessions -A'),
    ],
  ],
  [
    'shows the columns of a custom kind',
    [step('create -f -', route), step('get httproutes'), step('get httproutes -o wide')],
  ],
  [
    'patches in three ways',
    [
      step(
        'patch deploy web -p {"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"}]}}}}',
      ),
      step('patch ad java --type=merge -p {"spec":{"minInstances":3}}'),
      step('patch ad java --type=json -p [{"op":"replace","path":"/spec/minInstances","value":0}]'),
      step('patch ad java --type=json -p [{"op":"test","path":"/spec/minInstances","value":9}]'),
      step('patch ad java -p {"spec":{"minInstances":3}}'),
      step('get ad java -o jsonpath={.spec.minInstances}/{.metadata.generation}'),
    ],
  ],
  [
    'edits',
    [
      step('edit deploy web', undefined, { EDITOR: 'sed -i s/web:2/web:3/' }),
      step('edit ad java', undefined, { EDITOR: 'sed -i s/java-17:1.0.0/java-17:2.0.0/' }),
      step('get ad java -o jsonpath={.spec.image}'),
    ],
  ],
  [
    'sets an image, labels, annotates and scales',
    [
      step('set image deploy/web main=web:4'),
      step('label deploy web team=ide'),
      step('label deploy web team=other'),
      step('annotate ad java note=hello'),
      step('scale deploy web --replicas=2'),
      step('scale deploy web --replicas=3 --current-replicas=7'),
      step('get deploy -l team=ide -o name'),
      step('get deploy -l team!=ide -o name'),
    ],
  ],
  [
    'creates without a file',
    [
      step('create configmap cm --from-literal=a=1 --from-literal=b=2'),
      step('create configmap cm --from-literal=a=1'),
      step('create secret generic s --from-literal=password=x'),
      step('create serviceaccount robot'),
      step('create -f -', quota),
      step('get cm cm -o yaml'),
      step('get secret s -o jsonpath={.data.password}'),
      step('auth can-i create pods'),
      // Of more than one entry kubectl tells in no fixed order.
      step('create configmap single --from-literal=a=1'),
      step('describe cm single'),
      step('describe ad java'),
    ],
  ],
  [
    'takes a user in and sends him away',
    [
      step('create -f -', session('one')),
      step('get session one -o jsonpath={.spec.user}'),
      step('wait session/one --for=jsonpath={.spec.appDefinition}=java --timeout=20s'),
      step('delete session one'),
      step('get sessions'),
    ],
  ],
  [
    'deletes, and what was owned goes too',
    [
      step('delete deploy web'),
      step('wait rs -l app=web --for=delete --timeout=30s'),
      step('get rs,deploy'),
      step('delete ad --all'),
      step('get ad java'),
      step('delete ns ide --wait=false'),
    ],
  ],
];

it.each(SESSION)('a person with kubectl %s: the answers are the same', async (_, steps) => {
  for (const { args, input, env } of steps) {
    const [here, there] = await Promise.all(sides.map((side) => side.run(args.split(' '), input, env)));
    expect(here, `kubectl ${args}`).toEqual(there);
  }
});
