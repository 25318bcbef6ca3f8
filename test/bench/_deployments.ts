import { seededRandom } from '../../src/clock.ts';
import { createStore, type EmbeddedStore } from '../../src/embedded/store.ts';

const RESOURCE = { group: 'apps', version: 'v1', plural: 'deployments' };

/** An embedded cluster with `count` Deployments, each about as large as a warm instance's. */
export function clusterOf(count: number): EmbeddedStore {
  const store = createStore({ now: () => 1_700_000_000_000, random: seededRandom(1) });
  for (let index = 0; index < count; index++) createDeployment(store, index);
  return store;
}

export function createDeployment(store: EmbeddedStore, index: number): void {
  const body = deployment(`instance-${index}`);
  const request = { verb: 'create', resource: RESOURCE, namespace: 'default', body, user: 'bench' } as const;
  expectCode(store.execute(request).code, 201);
}

/** Annotates a Deployment on the condition that nobody has written it since `resourceVersion`; answers the new one. */
export function patchDeployment(store: EmbeddedStore, index: number, resourceVersion: string): string {
  const { code, body } = store.execute({
    verb: 'patch',
    patchType: 'json',
    resource: RESOURCE,
    namespace: 'default',
    name: `instance-${index}`,
    body: [
      { op: 'test', path: '/metadata/resourceVersion', value: resourceVersion },
      { op: 'add', path: '/metadata/annotations/everwarm.dev~1building', value: `r${resourceVersion}` },
    ],
    user: 'bench',
  });
  expectCode(code, 200);
  return body.metadata.resourceVersion ?? '';
}

export function versionOf(store: EmbeddedStore, index: number): string {
  const name = `instance-${index}`;
  const { body } = store.execute({
    verb: 'get',
    resource: RESOURCE,
    namespace: 'default',
    name,
    user: 'bench',
  });
  return body.metadata.resourceVersion ?? '';
}

function expectCode(code: number, wanted: number): void {
  if (code !== wanted) throw new Error(`the store answered ${code}, not ${wanted}`);
}

function deployment(name: string) {
  const labels = { app: name, 'app.kubernetes.io/part-of': 'bench' };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name, labels, annotations: { 'everwarm.dev/revision': 'v1-0123456789ab' } },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels },
        spec: {
          containers: [
            {
              name: 'ide',
              image: 'registry.example.org/ide:1.0.0',
              env: Array.from({ length: 10 }, (_, index) => ({
                name: `VARIABLE_${index}`,
                value: `value ${index}`,
              })),
              ports: [{ containerPort: 3000, name: 'web' }],
              resources: { requests: { cpu: '100m', memory: '1Gi' }, limits: { cpu: '2', memory: '2Gi' } },
              volumeMounts: [{ name: 'config', mountPath: '/etc/ide' }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name: `${name}-config` } }],
        },
      },
    },
  };
}
