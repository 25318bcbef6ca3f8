import { readFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { CHART, FORWARDER, helm, type Manifest, manifests, only } from './_chart.ts';
import { LOOP_RIGHTS, PORTALS, READ_RIGHTS, rightsOf, WATCH_RIGHTS } from './_rights.ts';
import { findHelm } from './helm.ts';

beforeEach(({ skip }) => {
  const found = findHelm();
  if (found.kind === 'missing') skip(found.reason);
});

const EVERYTHING = {
  podMonitor: { create: true },
  prometheusRule: { create: true },
  dashboard: { create: true },
};

const podOf = ({ spec }: Manifest) => spec.template.spec;
const argsOf = (workload: Manifest): string[] => podOf(workload).containers[0].args;

describe.each([
  { mode: 'standalone', values: EVERYTHING },
  { mode: 'forwarder', values: { ...FORWARDER, ...EVERYTHING } },
])('the chart as $mode', ({ values }) => {
  it('is what helm calls well made', () => {
    const { code, out } = helm(['lint', '--strict', CHART, '-f', '-'], values);
    expect(out).toContain('0 chart(s) failed');
    expect(code).toBe(0);
  });

  it('gives every pod no more than it needs', () => {
    const workloads = manifests(values).filter(({ kind }) => kind === 'Deployment' || kind === 'Job');
    expect(workloads.map(({ kind }) => kind).sort()).toEqual(['Deployment', 'Job']);
    for (const workload of workloads) {
      const pod = podOf(workload);
      expect(pod).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10_101,
          seccompProfile: { type: 'RuntimeDefault' },
        },
      });
      expect(pod.hostNetwork ?? pod.hostPID ?? pod.hostIPC).toBe(undefined);
      for (const container of pod.containers) {
        expect(container.securityContext).toEqual({
          allowPrivilegeEscalation: false,
          readOnlyRootFilesystem: true,
          privileged: false,
          capabilities: { drop: ['ALL'] },
        });
        expect(container.resources.limits).toHaveProperty('memory');
      }
      const token = pod.volumes.find(({ name }: { name: string }) => name === 'token');
      expect(token.projected.sources[0].serviceAccountToken).toEqual({
        path: 'token',
        expirationSeconds: 3_600,
      });
    }
  });

  it('may watch what is watched, and nothing else', () => {
    const roles = manifests(values).filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('-watch'),
    );
    expect(roles.length).toBeGreaterThan(0);
    for (const role of roles) expect(rightsOf(role['rules'])).toEqual(WATCH_RIGHTS);
  });

  it('may do in the pools what a pass does, and nothing else', () => {
    const all = manifests(values);
    const roles = all.filter(({ kind, metadata }) => kind === 'Role' && metadata.name.endsWith('-loop'));
    expect(roles.length).toBeGreaterThan(0);
    for (const role of roles) expect(rightsOf(role['rules'])).toEqual(LOOP_RIGHTS);
    expect(all.filter(({ kind }) => kind.startsWith('ClusterRole'))).toEqual([]);
  });

  it('brings the WarmPool kind as the code has it, and leaves it behind', () => {
    const { metadata, spec } = only(manifests(values), 'CustomResourceDefinition');
    expect(spec).toEqual(JSON.parse(JSON.stringify(WARM_POOL_CRD)).spec);
    expect(metadata.annotations).toEqual({ 'helm.sh/resource-policy': 'keep' });
  });

  it('hands the pools back before it goes', () => {
    const job = only(manifests(values), 'Job');
    expect(job.metadata.annotations?.['helm.sh/hook']).toBe('pre-delete');
    expect(argsOf(job).slice(0, 3)).toEqual(['leave', '--all', '--in-cluster']);
  });

  it('tells in the operations page what each alert means', () => {
    const page = readFileSync('docs/operations.md', 'utf8').toLowerCase();
    const rules = only(manifests(values), 'PrometheusRule')['spec'].groups[0].rules;
    expect(rules.length).toBeGreaterThan(4);
    for (const { alert, annotations } of rules) {
      expect(page).toContain(`### ${alert.toLowerCase()}\n`);
      expect(annotations.runbook).toBe(`docs/operations.md#${alert.toLowerCase()}`);
    }
  });

  it('shows and alarms on nothing that is not counted', () => {
    const all = manifests(values);
    const counted = readFileSync('src/app/prometheus.ts', 'utf8');
    const shown = JSON.stringify([
      only(all, 'PrometheusRule'),
      only(all, 'ConfigMap', 'ew-everwarm-dashboard'),
    ]);
    const names = new Set(shown.match(/\beverwarm_\w+/g));
    expect(names.size).toBeGreaterThan(5);
    for (const name of names) expect(counted).toContain(`'${name}'`);
  });
});

describe('the chart beside training portals', () => {
  const readers = { groups: ['everwarm-readers'] };
  const values = {
    ...FORWARDER,
    platforms: ['theia-cloud', 'educates'],
    namespaces: ['theia', 'campus-labs-ui'],
    forwarder: { ...FORWARDER.forwarder, readers },
  };
  const roleOf = (of: object, name: string, namespace?: string) => {
    const found = manifests(of).filter(
      ({ kind, metadata }) =>
        kind.endsWith('Role') && metadata.name.endsWith(`-${name}`) && metadata.namespace === namespace,
    );
    expect(found).toHaveLength(1);
    return found.flatMap(({ rules }) => rightsOf(rules));
  };

  it.each(['watch', 'loop', 'read'] as const)(
    'gives for %s what the code asks for, and nothing else',
    (name) => {
      expect(roleOf(values, name)).toEqual(PORTALS[name]);
      expect(roleOf(values, name, 'campus-labs-ui')).toEqual(PORTALS.own[name]);
      const pools = { watch: WATCH_RIGHTS, loop: LOOP_RIGHTS, read: READ_RIGHTS };
      expect(roleOf(values, name, 'theia')).toEqual(pools[name]);
    },
  );

  it('lets whoever wants to pay for one evidence more list Secrets, and nobody else', () => {
    const secrets = '/secrets: list';
    const open = { ...values, educates: { secrets: true } };
    expect([roleOf(values, 'loop'), roleOf(values, 'read')].flat()).not.toContain(secrets);
    expect(roleOf(open, 'loop')).toContain(secrets);
    expect(roleOf(open, 'read')).toContain(secrets);
    expect(roleOf(open, 'watch')).not.toContain(secrets);
  });

  it('binds cluster-wide whom it binds in the namespaces', () => {
    const all = manifests(values);
    for (const name of ['watch', 'loop', 'read']) {
      const bindings = all.filter(
        ({ kind, metadata }) => kind.endsWith('Binding') && metadata.name.endsWith(`-${name}`),
      );
      expect(bindings.map(({ kind }) => kind).sort()).toEqual([
        'ClusterRoleBinding',
        'RoleBinding',
        'RoleBinding',
      ]);
      const [first] = bindings;
      for (const { subjects } of bindings) expect(subjects).toEqual(first?.['subjects']);
    }
  });

  it('asks for nothing of Theia Cloud where there are portals alone, but whether there are AppDefinitions', () => {
    const alone = { ...values, platforms: ['educates'] };
    for (const namespace of ['theia', 'campus-labs-ui']) {
      expect(roleOf(alone, 'watch', namespace)).toEqual(PORTALS.own.watch);
      expect(roleOf(alone, 'loop', namespace)).toEqual(PORTALS.own.loop);
    }
  });

  it.each([
    [['theia-cloud'], ['everwarm_watch_absent{platform="theia-cloud",kind!="HTTPRoute"}']],
    [['educates'], ['everwarm_watch_absent{platform="educates"}']],
    [
      ['theia-cloud', 'educates'],
      [
        'everwarm_watch_absent{platform="theia-cloud",kind!="HTTPRoute",namespace!~".+-ui"}',
        'everwarm_watch_absent{platform="educates"}',
      ],
    ],
  ])('alarms on the kinds of %s that are not served', (platforms, watched) => {
    const rule = only(
      manifests({ ...values, platforms, prometheusRule: { create: true } }),
      'PrometheusRule',
    );
    const absent = rule['spec'].groups[0].rules.find(
      ({ alert }: { alert: string }) => alert === 'EverwarmKindAbsent',
    );
    expect(absent.expr).toBe(`max by (kind) (${watched.join(' or ')}) > 0`);
  });
});

describe('the chart', () => {
  it('runs the whole loop in mode observe unless it is told otherwise', () => {
    const { spec } = only(manifests(), 'Deployment');
    expect(spec.template.spec.containers[0].args).toEqual([
      'up',
      '--in-cluster',
      '--namespace=ops',
      '--mode=observe',
      '--resync=1m',
      '--health-port=8080',
      '--json',
    ]);
  });

  it('writes a forwarder’s configuration, and keeps its secret out of it', () => {
    const all = manifests(FORWARDER);
    expect(only(all, 'ConfigMap')['data']['forward.yaml'].trim().split('\n')).toEqual([
      'cluster: "prod-eu"',
      'namespaces: ["theia","ide"]',
      'webhook:',
      '  url: "https://door.example.com"',
      '  key: "k1"',
      '  secretFile: /etc/everwarm/webhook/secret',
      'health: {host: "0.0.0.0", port: 8080}',
      'heartbeatSeconds: 60',
      'drainSeconds: 10',
    ]);
    expect(argsOf(only(all, 'Deployment'))).toEqual([
      'forward',
      '--config=/etc/everwarm/forward.yaml',
      '--json',
    ]);
  });

  it('lets only the functions write where a forwarder runs', () => {
    const all = manifests({ ...FORWARDER, leave: { enabled: false } });
    const bindings = all.filter(
      ({ kind, metadata }) => kind === 'RoleBinding' && metadata.name.endsWith('-loop'),
    );
    expect(bindings.map(({ metadata }) => metadata.namespace)).toEqual(['theia', 'ide']);
    for (const { subjects } of bindings) {
      expect(subjects).toEqual([
        { apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'everwarm-functions' },
      ]);
    }
  });

  it('lets whoever only looks do nothing but read', () => {
    const readers = { groups: ['everwarm-readers'], users: ['u'] };
    const all = manifests({ ...FORWARDER, forwarder: { ...FORWARDER.forwarder, readers } });
    const roles = all.filter(({ metadata }) => metadata.name.endsWith('-read'));
    expect(roles.map((one) => `${one.kind} ${one.metadata.namespace}`).sort()).toEqual([
      'Role ide',
      'Role theia',
      'RoleBinding ide',
      'RoleBinding theia',
    ]);
    for (const role of roles.filter(({ kind }) => kind === 'Role')) {
      expect(rightsOf(role['rules'])).toEqual(READ_RIGHTS);
    }
    expect(JSON.stringify(all.filter(({ kind }) => kind === 'ValidatingAdmissionPolicy'))).not.toContain(
      'readers',
    );
  });

  it('names the same writers to its admission policies as to its roles', () => {
    const policies = manifests({
      ...FORWARDER,
      forwarder: {
        ...FORWARDER.forwarder,
        functions: { groups: ['g'], users: ['u@example.com'], serviceAccount: 'fn' },
      },
    }).filter(({ kind }) => kind === 'ValidatingAdmissionPolicy');
    expect(policies).toHaveLength(3);
    for (const { spec } of policies) {
      expect(spec.failurePolicy).toBe('Fail');
      expect(spec.matchConditions).toEqual([
        {
          name: 'by-everwarm',
          expression:
            "'g' in request.userInfo.groups || request.userInfo.username == 'u@example.com' || " +
            "request.userInfo.username == 'system:serviceaccount:ops:fn' || " +
            "request.userInfo.username == 'system:serviceaccount:ops:ew-everwarm-leave'",
        },
      ]);
    }
  });

  it.each([
    ['a mode that there is not', { mode: 'both' }],
    ['a value that it does not know', { replica: 2 }],
    ['a forwarder without a cluster', { ...FORWARDER, forwarder: { ...FORWARDER.forwarder, cluster: '' } }],
    [
      'a webhook without TLS',
      {
        ...FORWARDER,
        forwarder: {
          ...FORWARDER.forwarder,
          webhook: { ...FORWARDER.forwarder.webhook, url: 'http://x.example' },
        },
      },
    ],
    ['a platform that there is not', { platforms: ['coder'] }],
    ['no platform', { platforms: [] }],
    ['a namespace that is none', { namespaces: ['Theia'] }],
    ['three replicas', { replicas: 3 }],
    [
      'everybody as the functions',
      {
        ...FORWARDER,
        forwarder: { ...FORWARDER.forwarder, functions: { groups: ['system:authenticated'] } },
      },
    ],
    [
      'a user that would end the expression of a policy',
      { ...FORWARDER, forwarder: { ...FORWARDER.forwarder, functions: { users: ["u' || true || '"] } } },
    ],
  ])('refuses %s', (_, values) => {
    expect(() => manifests(values)).toThrow(/values don't meet the specifications of the schema/);
  });

  it('makes nothing that was switched off', () => {
    const off = { create: false };
    const kinds = manifests({
      crd: { install: false },
      rbac: off,
      admissionPolicies: { install: false },
      networkPolicy: off,
      podDisruptionBudget: off,
      leave: { enabled: false },
    }).map(({ kind }) => kind);
    expect(kinds.sort()).toEqual(['Deployment', 'ServiceAccount']);
  });
});
