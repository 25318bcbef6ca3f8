import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import {
  WORKSHOP_ALLOCATIONS,
  WORKSHOP_ENVIRONMENTS,
  WORKSHOP_SESSIONS,
} from '../../../../src/platform/educates/resources.ts';
import { EDUCATES_CRDS } from '../../../../src/simulator/world/educates/educates-crds.ts';
import { campus, JAVA } from './_campus.ts';
import type { EducatesWorld } from './_world.ts';

interface Write {
  readonly user: string;
  readonly verb: string;
  readonly resource: string;
  readonly name: string;
}

const recorded = (file: string) =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/educates/${file}.json`, import.meta.url), 'utf8'));

/** Not of the record everywhere, or no kind of the embedded cluster. */
const LEFT_OUT = new Set(['serviceaccounts', 'ingresses']);

/** The programs' writes, the number of the environment aside. */
const told = (writes: readonly Write[]): readonly string[] =>
  writes
    .filter(({ user, resource }) => user.startsWith('system:serviceaccount:') && !LEFT_OUT.has(resource))
    .map(({ user, verb, resource, name }) =>
      `${user.split(':').at(-1)} ${verb} ${resource} ${name}`.replaceAll(
        /campus-labs-w\d+/g,
        'campus-labs-w',
      ),
    );

function writesOf(world: EducatesWorld): () => readonly string[] {
  const writes: Write[] = [];
  world.store.onCommit(({ resource, object, request }) => {
    const { user, verb } = request;
    if (/:(training-portal|session-manager)$/.test(user))
      writes.push({ user, verb, resource: resource.plural, name: object.metadata.name });
  });
  return () => told(writes);
}

test('an environment and its session come to be by the recorded writes', async () => {
  const world = await campus({}, []);
  await world.workshop('lab-web-ide');
  const writes = writesOf(world);
  const entry = { name: 'lab-web-ide', alias: 'lab-web-ide-teachers', capacity: 3, initial: 1, reserved: 1 };
  await world.setPortal({ workshops: [entry] });
  await world.run(5_000);
  const ofPortal = (write: string) => !write.includes('trainingportals');
  expect(writes().filter(ofPortal)).toEqual(told(recorded('environment-created/writes')));
});

test('a claim over REST is the recorded writes', async () => {
  const world = await campus();
  const writes = writesOf(world);
  const handed = await world.through(world.portal.request(JAVA.name, 'user-a', 'rest'));
  await world.run(3_000);
  await world.through(world.portal.activate(handed?.name ?? '', handed?.token ?? ''));
  await world.run(1_000);
  const expected = told(recorded('claim/writes'));
  expect(writes().filter((write) => !write.includes(' services '))).toEqual(expected);
});

/** Nothing that differs from one run to the next: ids, times, secrets, the copy of the Workshop. */
function masked(object: unknown): unknown {
  const text = JSON.stringify(object, (name, value) =>
    ['uid', 'resourceVersion', 'creationTimestamp', 'managedFields', 'annotations', 'password'].includes(
      name,
    ) ||
    name === 'training.educates.dev/portal.uid' ||
    name === 'training.educates.dev/environment.uid'
      ? undefined
      : value,
  );
  return JSON.parse(
    text
      .replaceAll(/campus-labs-w\d+/g, 'campus-labs-w')
      .replaceAll('placeholder-client-secret', 'client-secret'),
  );
}

test('what stands in the end is what was recorded', async () => {
  const world = await campus();
  const handed = await world.through(world.portal.request(JAVA.name, 'user-a@example.org', 'rest'));
  await world.through(world.portal.activate(handed?.name ?? '', handed?.token ?? ''));
  await world.run(2_000);
  const name = handed?.name ?? '';
  const session = await world.find(WORKSHOP_SESSIONS, name);
  expect(masked(session)).toEqual(masked(recorded('claim/2-session-allocated')));
  const allocation = await world.find(WORKSHOP_ALLOCATIONS, name);
  expect(masked(allocation)).toEqual(masked(recorded('claim/3-allocation-done')));
  const environment = await world.find(WORKSHOP_ENVIRONMENTS, 'campus-labs-w01');
  const before = recorded('workshop-updated/1-env-before');
  expect(environment?.['spec']).toEqual(before.spec);
  expect(Object.keys(Object(environment?.['status']).educates).sort()).toEqual(
    Object.keys(before.status.educates).sort(),
  );
});

test.each(['trainingportals', 'workshopenvironments', 'workshopsessions', 'workshopallocations'])(
  '%s are checked as the real server checks them',
  (plural) => {
    const schemaOf = (definition: unknown) => Object(definition).spec.versions[0].schema;
    const ours = EDUCATES_CRDS.find((one) => Object(one).spec.names.plural === plural);
    expect(sorted(schemaOf(ours))).toEqual(sorted(schemaOf(recorded(`crds/${plural}`))));
  },
);

/** Lists of names in one order: what is required has none. */
function sorted(schema: unknown): unknown {
  return JSON.parse(
    JSON.stringify(schema, (name, value) => (name === 'required' ? [...value].sort() : value)),
  );
}
