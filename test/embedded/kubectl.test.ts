import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { installCrds } from '../../src/embedded/boot.ts';
import { createClaimProtection } from '../../src/embedded/claims.ts';
import { createDeploymentController } from '../../src/embedded/deployments.ts';
import { createGarbageCollector } from '../../src/embedded/gc.ts';
import { createNamespaceController } from '../../src/embedded/namespaces.ts';
import { runActors } from '../../src/embedded/runner.ts';
import { CRDS } from './_api.ts';
import { type Served, serveApi, TOKEN } from './_server.ts';

/** The real kubectl against the embedded API server: one person's session, in order. */

let served: Served;
let stopActors: () => void;
const home = mkdtempSync(join(tmpdir(), 'everwarm-kubectl-'));

beforeAll(async () => {
  const now = () => systemClock.now();
  served = await serveApi({}, { now });
  const { store } = served.api;
  installCrds(store, CRDS);
  const actors = [
    createGarbageCollector(store, { now, lagMs: 0 }),
    createNamespaceController(store, { now, delayMs: 0 }),
    createClaimProtection(store, { now }),
    createDeploymentController(store, { now }),
  ];
  stopActors = runActors(actors, systemClock, store);
  writeFileSync(join(home, 'config'), served.server.kubeconfig(TOKEN, 'ns'));
});

afterAll(async () => {
  stopActors();
  await served.server.close();
  rmSync(home, { recursive: true });
});

interface Ran {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function start(args: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn('kubectl', ['--cache-dir', join(home, 'cache'), ...args], {
    env: { PATH: process.env['PATH'], HOME: home, KUBECONFIG: join(home, 'config'), ...env },
  });
}

/** Runs kubectl to its end; `input` is what it reads from its standard input. */
function kubectl(args: string, input?: unknown, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = start(args.split(' '), env);
    let [out, err] = ['', ''];
    child.stdout?.on('data', (chunk: Buffer) => {
      out += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      err += chunk.toString();
    });
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, out, err }));
    child.stdin?.end(input === undefined ? '' : JSON.stringify(input));
  });
}

/** Runs kubectl, which must succeed, and returns what it says. */
async function says(args: string, input?: unknown, env?: Readonly<Record<string, string>>): Promise<string> {
  const { code, out, err } = await kubectl(args, input, env);
  expect({ args, code, err }).toMatchObject({ args, code: 0 });
  return out.trim();
}

const CONTAINERS = [
  { name: 'main', image: 'web:1', env: [{ name: 'A', value: '1' }], ports: [{ containerPort: 80 }] },
  { name: 'side', image: 'side:1' },
];

function deployment(containers: readonly object[] = CONTAINERS) {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers } },
    },
  };
}

const APP_DEFINITION = {
  apiVersion: 'theia.cloud/v1beta11',
  kind: 'AppDefinition',
  metadata: { name: 'java' },
  spec: {
    name: 'java',
    image: 'ide:1',
    uid: 101,
    port: 3000,
    ingressname: 'route',
    minInstances: 1,
    maxInstances: 2,
    requestsCpu: '1',
    requestsMemory: '1G',
    limitsCpu: '1',
    limitsMemory: '1G',
  },
};

describe('a kubectl session', () => {
  it('finds out what is served', async () => {
    const resources = await says('api-resources --no-headers');
    expect(resources).toMatch(/^deployments +deploy +apps\/v1 +true +Deployment$/m);
    expect(resources).toMatch(/^appdefinitions +appdef,ad +theia.cloud\/v1beta11 +true +AppDefinition$/m);
    expect(await says('api-versions')).toContain('theia.cloud/v1beta10');
    expect(await says('version')).toContain('Server Version: v1.34.4');
  });

  it('explains fields of built-in and of custom kinds', async () => {
    const strategy = await says('explain deployment.spec.strategy');
    expect(strategy).toMatch(/rollingUpdate\s+<Object>/);
    expect(await says('explain appdefinition.spec')).toMatch(/minInstances\s+<integer> -required-/);
  });

  it('applies: creates, leaves alone, changes', async () => {
    expect(await says('apply -f -', deployment())).toBe('deployment.apps/web created');
    expect(await says('apply -f -', deployment())).toBe('deployment.apps/web unchanged');
    const [main, side] = CONTAINERS;
    const changed = [{ ...main, image: 'web:2', env: [{ name: 'B', value: '2' }] }, side];
    expect(await says('apply -f -', deployment(changed as object[]))).toBe('deployment.apps/web configured');
    const path = 'jsonpath={.spec.template.spec.containers[0].image}{.spec.template.spec.containers[0].env}';
    expect(await says(`get deploy web -o ${path}`)).toBe('web:2[{"name":"B","value":"2"}]');
  });

  it('applies custom objects and is told what is wrong with them', async () => {
    expect(await says('apply -f -', APP_DEFINITION)).toBe('appdefinition.theia.cloud/java created');
    expect(await says('apply -f -', APP_DEFINITION)).toBe('appdefinition.theia.cloud/java unchanged');
    const bad = await kubectl('apply -f -', {
      ...APP_DEFINITION,
      spec: { ...APP_DEFINITION.spec, minInstances: 5 },
    });
    expect(bad.code).toBe(1);
    expect(bad.err).toContain('failed rule: self.minInstances <= self.maxInstances');
    const strict = await kubectl('apply -f -', {
      ...APP_DEFINITION,
      spec: { ...APP_DEFINITION.spec, bogus: 1 },
    });
    expect(strict.err).toContain('unknown field "spec.bogus"');
  });

  it('shows the difference that an apply would make', async () => {
    const changed = { ...APP_DEFINITION, spec: { ...APP_DEFINITION.spec, image: 'ide:2' } };
    const { code, out } = await kubectl('diff -f -', changed);
    expect(code).toBe(1);
    expect(out).toMatch(/^-\s+image: ide:1$/m);
    expect(out).toMatch(/^\+\s+image: ide:2$/m);
  });

  it('gets tables, JSON and YAML', async () => {
    expect(await says('get deploy')).toMatch(/^NAME +READY +UP-TO-DATE +AVAILABLE +AGE\nweb +0\/1 +1 +0 +\d/);
    expect(await says('get deploy -o wide')).toContain('web:2,side:1');
    expect(JSON.parse(await says('get appdefinition java -o json'))).toMatchObject({
      kind: 'AppDefinition',
      spec: APP_DEFINITION.spec,
    });
    expect(await says('get ad java -o yaml')).toContain('\n  minInstances: 1\n');
    expect(await says('get deploy,appdefinitions -o name')).toBe(
      'deployment.apps/web\nappdefinition.theia.cloud/java',
    );
    expect(await says('get ns ns')).toMatch(/^NAME +STATUS +AGE\nns +Active/);
  });

  it('shows the columns of a custom kind', async () => {
    const route = {
      apiVersion: 'gateway.networking.k8s.io/v1',
      kind: 'HTTPRoute',
      metadata: { name: 'route' },
      spec: { hostnames: ['ide.example.org'] },
    };
    await says('create -f -', route);
    expect(await says('get httproutes')).toMatch(
      /^NAME +HOSTNAMES +AGE\nroute +\["ide.example.org"\] +\d+s$/,
    );
  });

  it('patches in three ways', async () => {
    const strategic = '{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"side:2"}]}}}}';
    expect(await says(`patch deploy web -p ${strategic}`)).toBe('deployment.apps/web patched');
    const merge = '{"spec":{"minInstances":2}}';
    expect(await says(`patch ad java --type=merge -p ${merge}`)).toBe(
      'appdefinition.theia.cloud/java patched',
    );
    const json = '[{"op":"replace","path":"/spec/minInstances","value":0}]';
    expect(await says(`patch ad java --type=json -p ${json}`)).toBe('appdefinition.theia.cloud/java patched');
    const images = 'jsonpath={.spec.template.spec.containers[*].image}';
    expect(await says(`get deploy web -o ${images}`)).toBe('web:2 side:2');
    expect(await says('get ad java -o jsonpath={.spec.minInstances}/{.metadata.generation}')).toBe('0/3');
  });

  it('edits', async () => {
    const editor = { EDITOR: 'sed -i s/web:2/web:3/' };
    expect(await says('edit deploy web', undefined, editor)).toBe('deployment.apps/web edited');
    const custom = { EDITOR: 'sed -i s/ide:1/ide:9/' };
    expect(await says('edit ad java', undefined, custom)).toBe('appdefinition.theia.cloud/java edited');
    expect(await says('get ad java -o jsonpath={.spec.image}')).toBe('ide:9');
  });

  it('sets an image, labels, annotates and scales', async () => {
    expect(await says('set image deploy/web main=web:4')).toBe('deployment.apps/web image updated');
    expect(await says('label deploy web team=ide')).toBe('deployment.apps/web labeled');
    expect(await says('annotate ad java note=hello')).toBe('appdefinition.theia.cloud/java annotated');
    expect(await says('scale deploy web --replicas=2')).toBe('deployment.apps/web scaled');
    const path = '{.spec.replicas}{.spec.template.spec.containers[0].image}{.metadata.labels.team}';
    expect(await says(`get deploy web -o jsonpath=${path}`)).toBe('2web:4ide');
    expect(await says('get deploy -l team=ide -o name')).toBe('deployment.apps/web');
  });

  it('describes, with what happened to the object', async () => {
    const event = {
      apiVersion: 'v1',
      kind: 'Event',
      metadata: { name: 'told' },
      involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: 'ns' },
      reason: 'Told',
      message: 'as it was',
      type: 'Normal',
    };
    const { uid } = JSON.parse(await says('get deploy web -o json')).metadata;
    await says('create -f -', { ...event, involvedObject: { ...event.involvedObject, uid } });
    const told = await says('describe deploy web');
    expect(told).toMatch(/Replicas: +2 desired/);
    expect(told).toContain('as it was');
    expect(await says('describe ad java')).toMatch(/Min Instances: +0/);
    expect(await says('get events')).toContain('deployment/web');
  });

  it('waits for a condition, a value and an end', async () => {
    expect(await says('wait --for=condition=established crd/appdefinitions.theia.cloud')).toContain(
      'condition met',
    );
    const waiting = says('wait ad/java --for=jsonpath={.spec.maxInstances}=7 --timeout=20s');
    await says('patch ad java --type=merge -p {"spec":{"maxInstances":7}}');
    expect(await waiting).toBe('appdefinition.theia.cloud/java condition met');
    const gone = says('wait httproute/route --for=delete --timeout=20s');
    const isWatched = () =>
      served.log.some(({ verb, path }) => verb === 'watch' && path.includes('httproutes'));
    while (!isWatched()) await served.send('GET', '/version');
    await says('delete httproute route');
    expect(await gone).toContain('condition met');
  });

  it('watches', async () => {
    const child = start(['get', 'ad', '-w', '--output-watch-events', '--no-headers']);
    let text = '';
    let annotating: Promise<string> | undefined;
    await new Promise<void>((resolve) => {
      child.stdout?.on('data', (chunk: Buffer) => {
        text += chunk.toString();
        const count = text.split('\n').length - 1;
        if (count === 1) annotating ??= says('annotate ad java watched=yes');
        if (count >= 2) resolve();
      });
    });
    await annotating;
    child.kill();
    const seen = text
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/).slice(0, 2));
    expect(seen).toEqual([
      ['ADDED', 'java'],
      ['MODIFIED', 'java'],
    ]);
  });

  it('creates without a file, for which it speaks protobuf', async () => {
    expect(await says('create namespace other')).toBe('namespace/other created');
    expect(await says('create configmap cm --from-literal=a=1 --from-literal=b=2')).toBe(
      'configmap/cm created',
    );
    expect(await says('create secret generic s --from-literal=password=x')).toBe('secret/s created');
    expect(await says('create serviceaccount robot')).toBe('serviceaccount/robot created');
    expect(await says('create deployment quick --image=quick:1 --replicas=3 --port=80')).toBe(
      'deployment.apps/quick created',
    );
    expect(await says('auth can-i create pods')).toBe('yes');
    expect(await says('get cm cm -o jsonpath={.data}')).toBe('{"a":"1","b":"2"}');
    expect(await says('get secret s -o jsonpath={.data.password}')).toBe('eA==');
    const path =
      '{.spec.replicas}{.spec.template.spec.containers[0].ports[0].containerPort}{.metadata.labels.app}';
    expect(await says(`get deploy quick -o jsonpath=${path}`)).toBe('380quick');
    await says('delete deploy quick');
  });

  it('is refused a server-side apply by name', async () => {
    const { code, err } = await kubectl('apply --server-side -f -', APP_DEFINITION);
    expect(code).toBe(1);
    expect(err.trim()).toBe(
      'Error from server (NotImplemented): this embedded API server does not support server-side apply',
    );
  });

  it('deletes, and what was owned goes too', async () => {
    expect(await says('get rs -o name')).toMatch(/^replicaset.apps\/web-/);
    expect(await says('delete deploy web')).toBe('deployment.apps "web" deleted');
    await says('wait rs -l app=web --for=delete --timeout=20s');
    expect(await says('delete ad --all')).toBe('appdefinition.theia.cloud "java" deleted');
    const missing = await kubectl('get ad java');
    expect(missing.err.trim()).toBe(
      'Error from server (NotFound): appdefinitions.theia.cloud "java" not found',
    );
    expect(await says('delete ns ns')).toBe('namespace "ns" deleted');
  });
});
