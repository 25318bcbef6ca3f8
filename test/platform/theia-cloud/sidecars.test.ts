import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { Observation, Request } from '../../../src/platform/platform.ts';
import { createTheiaCloud } from '../../../src/platform/theia-cloud/theia-cloud.ts';
import type { Action, Instance } from '../../../src/pool/types.ts';
import { type Installed, install, NAMESPACE } from './_installed.ts';
import { recorded } from './_recorded.ts';

const LS = 'java-ls';
const WS = 'java-ls-ws';
const POOL_LS = recorded('c-pool-sidecar-nomount/objects.json');
const POOL_WS = recorded('c-pool-sidecar-mount/objects.json');

const platform = createTheiaCloud({
  mode: 'guard',
  oAuth2ProxyImage: 'registry.example.org/oauth2-proxy/oauth2-proxy',
});

async function observe({ api }: Installed, pool: string): Promise<Observation> {
  const scope = { cluster: 'c', namespace: NAMESPACE, name: pool };
  const [observation] = await platform.observe(api, scope, { quota: false });
  if (observation === undefined) throw new Error(`the pool ${pool} is not seen`);
  return observation;
}

/** A WarmPool beside the definition, as a first pass makes it. */
function withWarmPool(cluster: Installed, pool: string): Installed {
  const resource = cluster.store.resources().find(({ kind }) => kind === 'WarmPool');
  if (resource === undefined) throw new Error('the WarmPool kind is not installed');
  const source = cluster.find('AppDefinition', pool);
  const owner = {
    apiVersion: source?.apiVersion,
    kind: 'AppDefinition',
    name: pool,
    uid: source?.metadata.uid,
  };
  const body = {
    apiVersion: 'everwarm.dev/v1alpha1',
    kind: 'WarmPool',
    metadata: { name: pool, namespace: NAMESPACE, ownerReferences: [owner] },
    spec: {},
  };
  cluster.store.execute({ verb: 'create', resource, namespace: NAMESPACE, user: 'admin', body } as never);
  return cluster;
}

async function pool(objects: readonly KubeObject[], name: string): Promise<Installed> {
  return withWarmPool(await install(objects), name);
}

async function slot(cluster: Installed, name: string, number: string): Promise<Instance> {
  const found = (await observe(cluster, name)).observed.instances.find((one) => one.slot === number);
  if (found === undefined) throw new Error(`slot ${number} is not seen`);
  return found;
}

/** `delete deployments jdtls-server`: a request by what it concerns in its slot. */
async function requests(cluster: Installed, name: string, action: Action): Promise<readonly string[]> {
  const observation = await observe(cluster, name);
  return observation.requestsFor(action, 'pass-1').map(said);
}

function said(request: Request): string {
  const name = request.verb === 'create' ? request.body.metadata.name : request.name;
  const part = name.replace(/^instance-[0-9]+-/, '').replace(/java-ls(-ws)?-[0-9a-f]{12}/, 'IDE');
  return `${request.verb} ${request.resource.plural} ${part}`;
}

function nameOf(
  cluster: Installed,
  pool: string,
  number: number,
  kind: 'IDE' | 'sidecar' | 'volume',
): string {
  const uid = cluster.find('AppDefinition', pool)?.metadata.uid?.slice(-12);
  const middle = kind === 'sidecar' ? `jdtls-serve-${pool}` : pool;
  return `instance-${number}-${middle}-${uid}${kind === 'volume' ? '-pvc' : ''}`;
}

const CLEAN = { phase: 'ready', drift: [], absent: false, relabel: false };

describe('an instance with a sidecar', () => {
  it('is made whole: what a Deployment mounts and calls stands before it, the external Service last', async () => {
    const definitions = POOL_WS.filter(({ kind }) => kind === 'AppDefinition');
    const cluster = await pool(definitions, WS);
    expect(await requests(cluster, WS, { kind: 'build', slot: '1', revision: 'r' })).toEqual([
      'create services IDE-int',
      'create configmaps proxy-IDE',
      'create configmaps email-IDE',
      'create persistentvolumeclaims IDE-pvc',
      'create services jdtls-serve-IDE',
      'create deployments jdtls-serve-IDE',
      'create deployments IDE',
      'create services IDE',
    ]);
  });

  it('gets a sidecar back in place that the operator took away at a change of the definition', async () => {
    const cluster = await pool(recorded('c-modified-sidecar-mount/after.json'), WS);
    expect(await slot(cluster, WS, '2')).toMatchObject({ ...CLEAN, phase: 'pending', absent: true });
    expect(await requests(cluster, WS, { kind: 'build', slot: '2', revision: 'r' })).toEqual([
      'create deployments jdtls-serve-IDE',
    ]);
  });

  it('is not ready before its sidecar is', async () => {
    const cluster = await pool(POOL_LS, LS);
    expect(await slot(cluster, LS, '1')).toMatchObject(CLEAN);
    setAvailable(cluster, nameOf(cluster, LS, 1, 'sidecar'), false);
    expect(await slot(cluster, LS, '1')).toMatchObject({ phase: 'pending' });
  });

  it.each([
    {
      title: 'an image set by hand',
      path: /containers\[jdtls-server\]\.image$/,
      image: 'registry.example.org/x:1',
    },
  ])('is stale through $title on its sidecar', async ({ path, image }) => {
    const cluster = await pool(POOL_LS, LS);
    const containers = [{ name: 'jdtls-server', image, ports: [{ containerPort: 5000 }] }];
    cluster.patch('Deployment', nameOf(cluster, LS, 2, 'sidecar'), {
      spec: { template: { spec: { containers } } },
    });
    const { drift } = await slot(cluster, LS, '2');
    expect(drift.some((one) => one.startsWith('sidecarDeployment/jdtls-server: ') && path.test(one))).toBe(
      true,
    );
    expect(await slot(cluster, LS, '1')).toMatchObject(CLEAN);
  });

  it('is stale through a sidecar that is no longer wanted, and loses all of it', async () => {
    const cluster = await pool(POOL_WS, WS);
    cluster.patch('AppDefinition', WS, { spec: { sidecars: [] } });
    const { drift } = await slot(cluster, WS, '1');
    expect(drift).toContain('sidecarService/jdtls-server: is not wanted');
    expect(drift).toContain('sidecarDeployment/jdtls-server: is not wanted');
    expect(drift).toContain('volumeClaim: is not wanted');
    expect(await requests(cluster, WS, { kind: 'empty', slot: '1', reason: 'stale' })).toEqual([
      'patch services IDE',
      'delete deployments IDE',
      'delete persistentvolumeclaims IDE-pvc',
      'delete services jdtls-serve-IDE',
      'delete deployments jdtls-serve-IDE',
    ]);
  });

  it('beyond the wanted number goes with all of its parts, the external Service in a round of its own', async () => {
    const cluster = await pool(POOL_WS, WS);
    expect(await requests(cluster, WS, { kind: 'remove', slot: '2' })).toEqual([
      'patch services IDE',
      'delete deployments IDE',
      'delete services IDE-int',
      'delete configmaps proxy-IDE',
      'delete configmaps email-IDE',
      'delete persistentvolumeclaims IDE-pvc',
      'delete services jdtls-serve-IDE',
      'delete deployments jdtls-serve-IDE',
    ]);
  });

  it('of which only a sidecar is left is still seen', async () => {
    const cluster = await pool(POOL_LS, LS);
    cluster.patch('AppDefinition', LS, { spec: { minInstances: 1 } });
    for (const name of [nameOf(cluster, LS, 2, 'IDE'), `${nameOf(cluster, LS, 2, 'IDE')}-int`]) {
      cluster.remove('Service', name);
    }
    cluster.remove('Deployment', nameOf(cluster, LS, 2, 'IDE'));
    for (const purpose of ['proxy', 'email']) {
      cluster.remove('ConfigMap', nameOf(cluster, LS, 2, 'IDE').replace('-2-', `-2-${purpose}-`));
    }
    expect(await slot(cluster, LS, '2')).toMatchObject({ target: false, exists: true });
  });
});

describe('the volume of an instance', () => {
  it('stays when the instance is made anew because it is stale: nobody has used it', async () => {
    const cluster = await pool(POOL_WS, WS);
    expect(await requests(cluster, WS, { kind: 'empty', slot: '1', reason: 'stale' })).toEqual([
      'patch services IDE',
      'delete deployments IDE',
      'delete deployments jdtls-serve-IDE',
    ]);
  });

  it('goes with its user, by uid, version and owner', async () => {
    const cluster = await pool(POOL_WS, WS);
    const observation = await observe(cluster, WS);
    const all = observation.requestsFor({ kind: 'empty', slot: '1', reason: 'dirty' }, 'pass-1');
    const { uid, resourceVersion } =
      cluster.find('PersistentVolumeClaim', nameOf(cluster, WS, 1, 'volume'))?.metadata ?? {};
    expect(all.filter(({ resource }) => resource.kind === 'PersistentVolumeClaim')).toEqual([
      {
        verb: 'delete',
        resource: expect.objectContaining({ kind: 'PersistentVolumeClaim' }),
        namespace: NAMESPACE,
        name: nameOf(cluster, WS, 1, 'volume'),
        uid,
        resourceVersion,
        propagation: 'Background',
        ownedBy: cluster.find('AppDefinition', WS)?.metadata.uid,
      },
    ]);
  });

  it('is waited for until it is gone: nothing is made beside it', async () => {
    const cluster = await pool(POOL_WS, WS);
    cluster.remove('PersistentVolumeClaim', nameOf(cluster, WS, 1, 'volume'));
    expect(await slot(cluster, WS, '1')).toMatchObject({ terminating: true, phase: 'deleting' });
    cluster.wait(61_000);
    const { trouble } = await slot(cluster, WS, '1');
    expect(trouble).toMatchObject({ cause: 'storage' });
    expect(trouble?.message).toMatch(
      /^PersistentVolumeClaim instance-1-java-ls-ws-\S+-pvc is being deleted since/,
    );
  });

  it('that stays Pending is named when its instance does not get ready', async () => {
    const cluster = await pool(POOL_WS, WS);
    cluster.remove('Deployment', nameOf(cluster, WS, 1, 'IDE'));
    const name = nameOf(cluster, WS, 1, 'volume');
    const resource = cluster.store.resources().find(({ kind }) => kind === 'PersistentVolumeClaim');
    const patch = {
      verb: 'patch',
      patchType: 'merge',
      subresource: 'status',
      body: { status: { phase: 'Pending' } },
    };
    cluster.store.execute({ ...patch, resource, namespace: NAMESPACE, name, user: 'admin' } as never);
    expect((await slot(cluster, WS, '1')).trouble).toBeUndefined();
    cluster.wait(61_000);
    expect((await slot(cluster, WS, '1')).trouble).toEqual({
      cause: 'storage',
      message: expect.stringMatching(
        `^PersistentVolumeClaim ${name} is Pending since .*: look at its events`,
      ),
    });
  });

  it('made larger since is no reason to replace, made smaller by a setting none either; asked for larger it is', async () => {
    const grown = POOL_WS.map((object) =>
      object.kind === 'PersistentVolumeClaim'
        ? JSON.parse(JSON.stringify(object).replaceAll('250Mi', '1Gi'))
        : object,
    );
    const cluster = await pool(grown, WS);
    expect(await slot(cluster, WS, '1')).toMatchObject(CLEAN);
    const asked = await install(POOL_WS, true, { requestedStorage: '1Gi' });
    expect((await slot(asked, WS, '1')).drift).toEqual(['volumeClaim: spec.resources.requests.storage']);
  });

  it('of another owner under its name is left alone, and so is the slot', async () => {
    const cluster = await pool(POOL_WS, WS);
    cluster.patch('PersistentVolumeClaim', nameOf(cluster, WS, 1, 'volume'), {
      metadata: { ownerReferences: null },
    });
    expect(await slot(cluster, WS, '1')).toMatchObject({
      foreign: `PersistentVolumeClaim/${nameOf(cluster, WS, 1, 'volume')}`,
    });
    const dirty = await requests(cluster, WS, { kind: 'empty', slot: '1', reason: 'dirty' });
    expect(dirty.filter((request) => request.includes('persistentvolumeclaims'))).toEqual([]);
  });
});

describe('what a user had', () => {
  const anchorOf = (cluster: Installed) => nameOf(cluster, WS, 1, 'IDE');
  const uidOf = (cluster: Installed, kind: string, name: string) =>
    cluster.find(kind, name)?.metadata.uid ?? '';

  it('is dirt as long as it stands: the volume and the sidecar, too', async () => {
    const cluster = await pool(POOL_WS, WS);
    const volume = uidOf(cluster, 'PersistentVolumeClaim', nameOf(cluster, WS, 1, 'volume'));
    cluster.patch('Service', anchorOf(cluster), {
      metadata: { annotations: { 'everwarm.dev/used': volume } },
    });
    expect(await slot(cluster, WS, '1')).toMatchObject({ dirt: 'used PersistentVolumeClaim' });
  });

  it('is named on the anchor before anything goes, so that a pass that ends half way hides nothing', async () => {
    const cluster = await pool(POOL_WS, WS);
    const observation = await observe(cluster, WS);
    const [mark] = observation.requestsFor({ kind: 'empty', slot: '1', reason: 'dirty' }, 'pass-1');
    if (mark?.verb !== 'patch') throw new Error('nothing is noted');
    const volume = uidOf(cluster, 'PersistentVolumeClaim', nameOf(cluster, WS, 1, 'volume'));
    const sidecar = uidOf(cluster, 'Deployment', nameOf(cluster, WS, 1, 'sidecar'));
    expect(JSON.stringify(mark.patch)).toContain(`"everwarm.dev/used":"${volume} ${sidecar}"`);
  });

  it('goes on going where such a pass ended: the IDE is gone, the volume stands', async () => {
    const cluster = await pool(POOL_WS, WS);
    const volume = uidOf(cluster, 'PersistentVolumeClaim', nameOf(cluster, WS, 1, 'volume'));
    const source = cluster.find('AppDefinition', WS);
    const fence = uidOf(cluster, 'WarmPool', WS);
    cluster.patch('Service', anchorOf(cluster), {
      metadata: {
        annotations: {
          'everwarm.dev/used': volume,
          'everwarm.dev/emptied': '1',
          'everwarm.dev/building': 'r',
        },
        ownerReferences: [
          { apiVersion: source?.apiVersion, kind: 'AppDefinition', name: WS, uid: source?.metadata.uid },
          { apiVersion: 'everwarm.dev/v1alpha1', kind: 'WarmPool', name: WS, uid: fence },
        ],
      },
    });
    cluster.remove('Deployment', nameOf(cluster, WS, 1, 'IDE'));
    const seen = await slot(cluster, WS, '1');
    expect(seen.drift).toEqual(['volumeClaim: is to go']);
    expect(seen.dirt).toBeUndefined();
    expect(await requests(cluster, WS, { kind: 'empty', slot: '1', reason: 'stale' })).toContain(
      'delete persistentvolumeclaims IDE-pvc',
    );
  });
});

describe('a pool that cannot be worked on', () => {
  const problemOf = async (objects: readonly KubeObject[], name: string, spec: object = {}) => {
    const cluster = await install(objects);
    if (Object.keys(spec).length > 0) cluster.patch('AppDefinition', name, { spec });
    return (await observe(cluster, name)).desired;
  };
  const sidecar = (name: string) => ({ name, image: 'registry.example.org/s:1', port: 5000 });

  it('has a sidecar that the operator takes for the IDE: both Services are named, and what to do', async () => {
    const { problem, revision } = await problemOf(
      recorded('c-claim-sidecar-sorts-first/after-release-of-first.json'),
      'python-course',
    );
    expect(problem?.reason).toBe('SidecarSortsFirst');
    expect(problem?.message).toMatch(
      /^Service instance-1-lsp-python-cour-\S+ of sidecar lsp sorts before Service instance-1-python-course-\S+ of the IDE.*sorts after python-course$/,
    );
    // What is wanted is known: its users are cared for.
    expect(revision).toBeDefined();
  });

  it('has two sidecars whose names are cut to one', async () => {
    const { problem } = await problemOf(POOL_LS, LS, {
      sidecars: [sidecar('language-server-a'), sidecar('language-server-b')],
    });
    expect(problem).toMatchObject({ reason: 'SidecarNamesCollide' });
    expect(problem?.message).toMatch(
      /^sidecar language-server-b and sidecar language-server-a would both be instance-1-language-se-java-ls-/,
    );
  });

  it('has two sidecars of one name', async () => {
    const { problem } = await problemOf(POOL_LS, LS, { sidecars: [sidecar('lsp'), sidecar('lsp')] });
    expect(problem).toEqual({ reason: 'InvalidDefinition', message: 'spec.sidecars has two of one name' });
  });
});

it('a shared route that is missing is told with its cure, and holds nothing back', async () => {
  const cluster = await install(POOL_LS);
  cluster.remove('HTTPRoute', 'ide-instances-route');
  const { desired } = await observe(cluster, LS);
  expect(desired.problem).toBeUndefined();
  expect(desired.concern).toMatchObject({ reason: 'SharedRouteMissing' });
  expect(desired.concern?.message).toMatch(
    /^there is no HTTPRoute ide-instances-route .* create it, then annotate/,
  );
});

it('a shared route that the definition owns is the one that the operator uses, whatever its name', async () => {
  const cluster = await install(POOL_LS);
  const uid = cluster.find('AppDefinition', LS)?.metadata.uid;
  const owner = { apiVersion: 'theia.cloud/v1beta11', kind: 'AppDefinition', name: LS, uid };
  cluster.patch('HTTPRoute', 'ide-instances-route', { metadata: { ownerReferences: [owner] } });
  cluster.patch('AppDefinition', LS, { spec: { ingressname: 'another-route' } });
  expect((await observe(cluster, LS)).desired.concern).toBeUndefined();
});

describe('a sidecar that waits for quota', () => {
  it('is nudged itself, and nobody else', async () => {
    const cluster = await pool(POOL_LS, LS);
    setAvailable(cluster, nameOf(cluster, LS, 1, 'sidecar'), false);
    expect(await requests(cluster, LS, { kind: 'nudge', slot: '1' })).toEqual([
      'patch deployments jdtls-serve-IDE',
    ]);
  });
});

describe('what Everwarm made for this very revision and finds changed', () => {
  it.each(['sidecar', 'volume'] as const)('is its own rendering at fault: a %s', async (which) => {
    const cluster = await pool(POOL_WS, WS);
    const kind = which === 'sidecar' ? 'Deployment' : 'PersistentVolumeClaim';
    const name = nameOf(cluster, WS, 1, which);
    const { revision } = (await observe(cluster, WS)).desired;
    const made = cluster.find(kind, name);
    cluster.remake(kind, name, (text) =>
      text
        .replace('"labels":{', `"labels":{"everwarm.dev/revision":"${revision}",`)
        .replace('ReadWriteMany', 'ReadWriteOnce')
        .replace('jdtls:1.39.0', 'jdtls:rewritten'),
    );
    expect(cluster.find(kind, name)?.metadata.uid).not.toBe(made?.metadata.uid);
    expect(await slot(cluster, WS, '1')).toMatchObject({ unstable: true });
    expect(await slot(cluster, WS, '2')).toMatchObject({ unstable: false });
  });
});

function setAvailable(cluster: Installed, name: string, isAvailable: boolean): void {
  const resource = cluster.store.resources().find(({ kind }) => kind === 'Deployment');
  const status = {
    availableReplicas: isAvailable ? 1 : 0,
    conditions: [{ type: 'Available', status: isAvailable ? 'True' : 'False' }],
  };
  const patch = { verb: 'patch', subresource: 'status', patchType: 'merge', body: { status } };
  cluster.store.execute({ ...patch, resource, namespace: NAMESPACE, name, user: 'admin' } as never);
}
