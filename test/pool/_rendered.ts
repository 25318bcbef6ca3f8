import fc from 'fast-check';

/** Paths of plain keys and list places to every leaf of `value`: what `at` and `changed` take. */
export type Steps = readonly (string | number)[];

const label = fc.constantFrom('java-17', 'web', 'a', 'b-1', 'registry.example.org/ide:1.0.0', 'x=y', '42');
const named = (name: string, fields: Record<string, fc.Arbitrary<unknown>>, size = 4) =>
  fc.uniqueArray(fc.record({ [name]: fc.constantFrom('one', 'two', 'three', 'four', 'five'), ...fields }), {
    selector: (entry: Record<string, unknown>) => entry[name],
    maxLength: size,
  });
const amounts = fc.record(
  {
    cpu: fc.constantFrom('500m', '2', '0.5', '1000m'),
    memory: fc.constantFrom('3000M', '3G', '1Gi', '128974848'),
  },
  { requiredKeys: [] },
);
const container = {
  image: label,
  args: fc.array(label, { maxLength: 3 }),
  env: named('name', { value: fc.oneof(label, fc.constant('')) }),
  ports: fc.uniqueArray(
    fc.record({ containerPort: fc.integer({ min: 1, max: 9 }), name: label, protocol: fc.constant('TCP') }),
    { selector: ({ containerPort }) => containerPort, maxLength: 3 },
  ),
  resources: fc.record({ limits: amounts, requests: amounts }),
  securityContext: fc.record({ runAsUser: fc.nat({ max: 2 }), readOnlyRootFilesystem: fc.boolean() }),
  volumeMounts: fc.uniqueArray(fc.record({ mountPath: fc.constantFrom('/a', '/b', '/c'), name: label }), {
    selector: ({ mountPath }) => mountPath,
    maxLength: 3,
  }),
};

/** Something rendered: shaped like a Deployment or a Service, with every kind of list that a comparison knows. */
export const rendered = fc.record({
  metadata: fc.record({
    labels: fc.dictionary(fc.constantFrom('app', 'theia-cloud.io/x', 'storage-class'), label),
    ownerReferences: named('uid', { name: label }, 2),
  }),
  spec: fc.record({
    replicas: fc.nat({ max: 2 }),
    ports: named('name', { port: fc.integer({ min: 1, max: 9 }), targetPort: fc.oneof(label, fc.nat()) }, 3),
    strategy: fc.record({ maxSurge: fc.oneof(fc.nat(), fc.constant('25%')) }),
    rules: fc.array(fc.record({ path: label }), { maxLength: 2 }),
    template: fc.record({
      automountServiceAccountToken: fc.boolean(),
      containers: named('name', container, 3),
      initContainers: named('name', { image: label }, 2),
      imagePullSecrets: named('name', {}, 2),
      volumes: named('name', { configMap: fc.record({ name: label, optional: fc.boolean() }) }),
    }),
  }),
});

/** Every leaf, and every empty list or map. */
export function leaves(value: unknown, steps: Steps = []): readonly Steps[] {
  if (typeof value !== 'object' || value === null) return [steps];
  return Object.entries(value).flatMap(([key, inner]) =>
    leaves(inner, [...steps, Array.isArray(value) ? Number(key) : key]),
  );
}

/** A copy of `value` with `change` done at `steps`. */
export function changed(value: unknown, steps: Steps, change: (leaf: unknown) => unknown): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) return change(value);
  const copy = structuredClone(value) as Record<string | number, unknown>;
  copy[step] = changed(copy[step], rest, change);
  return copy;
}

/** The same value with every map's keys turned round, and every list whose entries have a name. */
export function turnedRound(value: unknown): unknown {
  if (Array.isArray(value)) {
    const turned = value.map(turnedRound);
    const isNamed = value.every((entry) => typeof entry === 'object' && !('path' in entry));
    return isNamed ? turned.reverse() : turned;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, turnedRound(inner)] as const);
  return Object.fromEntries(entries.reverse());
}
