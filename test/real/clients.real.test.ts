import { fileURLToPath } from 'node:url';
import {
  CoreV1Api,
  CustomObjectsApi,
  KubeConfig,
  type KubernetesObject,
  makeInformer,
} from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';
import { findBinaries } from '../real-cluster/build.ts';
import { findPython, runPython } from './_python.ts';
import { startTwoSides, type TwoSides } from './_two-sides.ts';

/** Other people's clients, on the embedded and on the real API server: they see the same. */

let servers: TwoSides | undefined;

beforeAll(async () => {
  if (findBinaries().kind === 'missing') return;
  servers = await startTwoSides();
});

afterAll(async () => {
  await servers?.stop();
});

it("Python's client lists page by page, watches, patches and is refused in the same words", async ({
  skip,
}) => {
  const found = findPython();
  if ('reason' in found) return skip(found.reason);
  const file = fileURLToPath(new URL('_python-client.py', import.meta.url));
  const told = (kubeconfig = '') =>
    runPython(found.python, file, [kubeconfig], appDefinition('java', { minInstances: 0 }));
  const [here, there] = await Promise.all([told(servers?.embedded), told(servers?.real)]);
  expect(here.map(masked)).toEqual(there.map(masked));
  expect(here.length).toBeGreaterThan(12);
});

it('an informer of client-node tells of everything that is there, of each change and of the end', async () => {
  const [here, there] = await Promise.all([informed(servers?.embedded), informed(servers?.real)]);
  expect(here).toEqual(there);
  expect(here.at(-1)).toBe('delete java');
});

const GROUP = { group: 'theia.cloud', version: 'v1beta11', namespace: 'informed', plural: 'appdefinitions' };

async function informed(kubeconfig = ''): Promise<readonly string[]> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const custom = config.makeApiClient(CustomObjectsApi);
  await config.makeApiClient(CoreV1Api).createNamespace({ body: { metadata: { name: 'informed' } } });
  const create = (name: string) =>
    custom.createNamespacedCustomObject({ ...GROUP, body: appDefinition(name, { minInstances: 0 }) });
  await create('java');
  await create('python');
  const path = `/apis/theia.cloud/v1beta11/namespaces/informed/appdefinitions`;
  const informer = makeInformer<KubernetesObject>(config, path, () =>
    custom.listNamespacedCustomObject(GROUP),
  );
  const told: string[] = [];
  for (const type of ['add', 'update', 'delete'] as const) {
    informer.on(type, (object) => {
      told.push(`${type} ${object.metadata?.name}`);
    });
  }
  await informer.start();
  const heard = async (what: string) => {
    while (told.at(-1) !== what) await systemClock.sleep(10);
  };
  await create('rust');
  await heard('add rust');
  await custom.patchNamespacedCustomObject({
    ...GROUP,
    name: 'java',
    body: [{ op: 'replace', path: '/spec/minInstances', value: 2 }],
  });
  await heard('update java');
  await custom.deleteNamespacedCustomObject({ ...GROUP, name: 'java' });
  await heard('delete java');
  const names = informer.list().map(({ metadata }) => metadata?.name);
  await informer.stop();
  return [...told.slice(0, 2).sort(), `has ${names.sort().join()}`, ...told.slice(2)];
}

function masked(line: string): string {
  return line.replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'UID');
}
