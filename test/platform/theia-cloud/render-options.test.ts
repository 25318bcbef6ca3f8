import { describe, expect, it } from 'vitest';
import type { KubeObject } from '../../../src/kube/api.ts';
import { type AppDefinition, parseAppDefinition } from '../../../src/platform/theia-cloud/crds.ts';
import { renderSlot } from '../../../src/platform/theia-cloud/render.ts';
import type { Settings } from '../../../src/platform/theia-cloud/settings.ts';
import {
  appDefinitionIn,
  KEYCLOAK_ARGUMENTS,
  recorded,
  recordedSettings,
  recordedTemplate,
  unwrap,
} from './_recorded.ts';

const JAVA = appDefinitionIn(recorded('a-pool-keycloak/objects.json'));
const SETTINGS: Settings = { ...recordedSettings(KEYCLOAK_ARGUMENTS), enableMonitor: true };

interface Container {
  readonly name: string;
  readonly image: string;
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[];
  readonly resources?: unknown;
}
interface Pod {
  readonly containers: readonly Container[];
  readonly initContainers?: readonly Container[];
  readonly volumes: readonly { readonly name: string; readonly configMap?: { readonly name: string } }[];
  readonly imagePullSecrets?: unknown;
}

function app(fields: object): AppDefinition {
  return unwrap(parseAppDefinition({ ...JAVA, spec: { ...JAVA.spec, ...fields } }));
}

function render(fields: object, settings: Partial<Settings> = {}) {
  return renderSlot(app(fields), { ...SETTINGS, ...settings }, 1, recordedTemplate());
}

function templateOf(deployment: KubeObject | undefined) {
  const { spec } = deployment as unknown as {
    spec: { template: { metadata: { annotations?: Record<string, string> }; spec: Pod } };
  };
  return spec.template;
}

/** The IDE's container, its environment by name. */
function ide(fields: object, settings: Partial<Settings> = {}) {
  const { metadata, spec } = templateOf(render(fields, settings).deployment);
  const container = spec.containers.find(({ name }) => name === JAVA.spec.name);
  if (container === undefined) throw new Error('there is no IDE');
  const env = Object.fromEntries((container.env ?? []).map(({ name, value }) => [name, value]));
  const ports = Object.fromEntries((container.ports ?? []).map((port) => [port.name, port.containerPort]));
  return { annotations: metadata.annotations, pod: spec, container, env, ports };
}

function servicePorts(fields: object, settings: Partial<Settings> = {}): unknown {
  const { spec } = render(fields, settings).externalService as unknown as {
    spec: { ports: readonly { readonly name: string; readonly port: number }[] };
  };
  return Object.fromEntries(spec.ports.map(({ name, port }) => [name, port]));
}

describe('the monitor', () => {
  it.each([
    { title: 'has a port of its own', port: 8081, ports: { application: 3000, monitor: 8081 }, env: '8081' },
    { title: 'shares the port of the IDE', port: 3000, ports: { application: 3000 }, env: '3000' },
    {
      title: 'is off with port 0',
      port: 0,
      ports: { application: 3000 },
      env: 'placeholder-monitor-env-port',
    },
  ])('$title', ({ port, ports, env }) => {
    const found = ide({ monitor: { port } });
    expect(found.ports).toEqual(ports);
    expect(found.env['THEIACLOUD_MONITOR_PORT']).toBe(env);
  });

  it('that the operator does not use keeps its port on the Service, but not on the container', () => {
    const fields = { monitor: { port: 8081 } };
    expect(ide(fields, { enableMonitor: false }).ports).toEqual({ application: 3000 });
    expect(servicePorts(fields, { enableMonitor: false })).toEqual({ http: 3000, 'monitor-express': 8081 });
  });
});

describe('the data bridge', () => {
  it.each([
    { title: 'is on by word', options: { dataBridgeEnabled: 'TRUE' }, enabled: '1', port: '16281' },
    { title: 'is on by number', options: { dataBridgeEnabled: 1 }, enabled: '1', port: '16281' },
    {
      title: 'has the port that is asked for',
      options: { dataBridgeEnabled: 'true', dataBridgePort: 17000 },
      enabled: '1',
      port: '17000',
    },
    {
      title: 'has its own port where the one that is asked for is no number',
      options: { dataBridgeEnabled: 'true', dataBridgePort: 'seventeen' },
      enabled: '1',
      port: '16281',
    },
    {
      title: 'names no port where it is that of the IDE',
      options: { dataBridgeEnabled: 'true', dataBridgePort: 3000 },
      enabled: '1',
      port: '',
    },
    { title: 'is off otherwise', options: { dataBridgeEnabled: 'yes' }, enabled: '0', port: '' },
  ])('$title', ({ options, enabled, port }) => {
    const { env } = ide({ options });
    expect([env['DATA_BRIDGE_ENABLED'], env['DATA_BRIDGE_PORT']]).toEqual([enabled, port]);
    expect(env['SCORPIO_THEIA_ENV_STRATEGY']).toBe(enabled === '1' ? 'data-bridge' : '');
  });

  it('opens its port on container and Service only where nobody else has it', () => {
    const options = { dataBridgeEnabled: 'true', dataBridgePort: 8081 };
    expect(ide({ options }).ports).toEqual({ application: 3000, 'data-bridge': 8081 });
    expect(servicePorts({ options })).toEqual({ http: 3000, 'data-bridge': 8081 });
    const shared = { options, monitor: { port: 8081 } };
    expect(ide(shared).ports).toEqual({ application: 3000, monitor: 8081 });
    expect(servicePorts(shared)).toEqual({ http: 3000, 'monitor-express': 8081 });
  });
});

describe('bandwidth', () => {
  const down = { downlinkLimit: 30000 };
  const both = { ...down, uplinkLimit: 15000 };
  const INGRESS = { 'kubernetes.io/ingress-bandwidth': '30000k' };
  const BOTH = { ...INGRESS, 'kubernetes.io/egress-bandwidth': '15000k' };

  it.each([
    { limiter: 'NONE', fields: both, annotations: undefined, shaped: false },
    { limiter: 'K8SANNOTATION', fields: both, annotations: BOTH, shaped: false },
    { limiter: 'K8SANNOTATION', fields: down, annotations: INGRESS, shaped: false },
    {
      limiter: 'K8SANNOTATION',
      fields: { downlinkLimit: 0, uplinkLimit: -1 },
      annotations: undefined,
      shaped: false,
    },
    { limiter: 'WONDERSHAPER', fields: both, annotations: undefined, shaped: true },
    { limiter: 'WONDERSHAPER', fields: down, annotations: undefined, shaped: false },
    { limiter: 'K8SANNOTATIONANDWONDERSHAPER', fields: both, annotations: BOTH, shaped: true },
    { limiter: 'K8SANNOTATIONANDWONDERSHAPER', fields: down, annotations: INGRESS, shaped: false },
  ] as const)('by $limiter with $fields: $annotations, from inside $shaped', (row) => {
    const found = ide(row.fields, { bandwidthLimiter: row.limiter });
    expect(found.annotations).toEqual(row.annotations);
    expect(found.pod.initContainers !== undefined).toBe(row.shaped);
  });
});

describe('caches', () => {
  const on = { enableBuildCaching: true, buildCacheUrl: ' https://cache.example.org ' };

  it.each([
    { title: 'are off by default', settings: {}, build: ['false', '', 'false'], trusts: false },
    {
      title: 'need an address',
      settings: { enableBuildCaching: true, buildCacheUrl: ' ' },
      build: ['false', '', 'false'],
      trusts: false,
    },
    {
      title: 'are not filled without one',
      settings: { enableBuildCachePush: true },
      build: ['false', '', 'false'],
      trusts: false,
    },
    {
      title: 'are used where they have one',
      settings: on,
      build: ['true', 'https://cache.example.org', 'false'],
      trusts: true,
    },
    {
      title: 'are filled where that is allowed',
      settings: { ...on, enableBuildCachePush: true },
      build: ['true', 'https://cache.example.org', 'true'],
      trusts: true,
    },
    {
      title: 'need no certificates without TLS',
      settings: { ...on, buildCacheUrl: 'http://cache.ide:5071' },
      build: ['true', 'http://cache.ide:5071', 'false'],
      trusts: false,
    },
    {
      title: 'of dependencies need no certificates',
      settings: { enableDependencyCaching: true, dependencyCacheUrl: 'https://deps.example.org' },
      build: ['false', '', 'false'],
      trusts: false,
    },
  ])('$title', ({ settings, build, trusts }) => {
    const { env, container, pod } = ide({}, settings);
    expect([env['BUILD_CACHE_ENABLED'], env['BUILD_CACHE_URL'], env['BUILD_CACHE_PUSH']]).toEqual(build);
    const mount = container.volumeMounts?.find(({ name }) => name === 'trust-bundle');
    const volume = pod.volumes.find(({ name }) => name === 'trust-bundle');
    expect([mount?.mountPath, volume?.configMap?.name]).toEqual(
      trusts
        ? ['/etc/ssl/theia-trust', 'theia-internal-trust']
        : ['/tmp/trust-bundle-unused', 'trust-bundle-unused'],
    );
    expect(env['NODE_EXTRA_CA_CERTS'] !== '').toBe(trusts);
    expect(env['GRADLE_OPTS'] !== '').toBe(trusts);
  });
});

describe('sidecars', () => {
  const lsp = { name: 'lang-java', image: 'registry.example.org/jdtls:1', port: 5000 };
  const go = { name: 'lang-go', image: 'registry.example.org/gopls:1', port: 5001, languages: ['go'] };
  const shared = { ...lsp, mountWorkspace: true };

  it('are told to the IDE one by one and all together', () => {
    const { env } = ide({ sidecars: [lsp, go] });
    const uid = JAVA.metadata.uid.slice(-12);
    expect(env).toMatchObject({
      SIDECAR_LANG_JAVA_HOST: `instance-1-lang-java-java-17-cou-${uid}`,
      SIDECAR_LANG_JAVA_PORT: '5000',
      SIDECAR_LANG_GO_HOST: `instance-1-lang-go-java-17-cou-${uid}`,
      SIDECAR_LANG_GO_PORT: '5001',
    });
    expect(JSON.parse(env['SIDECAR_CONFIG'] ?? '')).toEqual([
      { name: 'lang-java', host: `instance-1-lang-java-java-17-cou-${uid}`, port: 5000, languages: [] },
      { name: 'lang-go', host: `instance-1-lang-go-java-17-cou-${uid}`, port: 5001, languages: ['go'] },
    ]);
  });

  it('that ask for nothing, or for blanks, get what the operator gives', () => {
    for (const cpuLimit of [undefined, '', ' ']) {
      const rendered = render({
        sidecars: [cpuLimit === undefined ? lsp : { ...lsp, cpuLimit: cpuLimit.trim() }],
      });
      const [container] = templateOf(rendered['sidecarDeployment/lang-java']).spec.containers;
      expect(container?.resources).toEqual({
        limits: { cpu: '500m', memory: '1Gi' },
        requests: { cpu: '100m', memory: '256Mi' },
      });
    }
  });

  it('share a volume with the IDE only if one of them asks for it, where the definition says or by default', () => {
    expect(render({ sidecars: [lsp] }).volumeClaim).toBeUndefined();
    const without = render({ sidecars: [shared, go], mountPath: undefined });
    expect(without.volumeClaim).toBeDefined();
    const mounts = (part: KubeObject | undefined) =>
      templateOf(part).spec.containers.flatMap(({ volumeMounts = [] }) =>
        volumeMounts.filter(({ name }) => name === 'user-data' || name === 'workspace-data'),
      );
    const at = (name: string) => [{ name, mountPath: '/home/project/persisted' }];
    expect(mounts(without.deployment)).toEqual(at('user-data'));
    expect(mounts(without['sidecarDeployment/lang-java'])).toEqual(at('workspace-data'));
    expect(mounts(without['sidecarDeployment/lang-go'])).toEqual([]);
  });

  it('leave the storage class to the cluster where the operator names none', () => {
    const { volumeClaim } = render({ sidecars: [shared] }, { storageClassName: '' });
    expect(volumeClaim?.['spec']).toEqual({
      accessModes: ['ReadWriteMany'],
      resources: { requests: { storage: '250Mi' } },
    });
  });

  it('pull with the secret of the definition, if it has one', () => {
    const secretOf = (fields: object) =>
      templateOf(render({ sidecars: [lsp], ...fields })['sidecarDeployment/lang-java']).spec.imagePullSecrets;
    expect(secretOf({})).toEqual([{ name: 'ide-registry' }]);
    expect(secretOf({ pullSecret: ' ' })).toBeUndefined();
  });
});
