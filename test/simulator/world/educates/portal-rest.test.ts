import { expect, test } from 'vitest';
import { campus, JAVA } from './_campus.ts';

const CATALOG = '/workshops/catalog/environments/';
const status = (name: string) => `/workshops/environment/${name}/status/`;

test('the catalog tells what is in use, and which generation of the portal was dealt with', async () => {
  const world = await campus();
  await world.through(world.portal.request(JAVA.name, 'user-a', 'browser'));
  await world.run(1_000);
  const java = {
    name: 'campus-labs-w01',
    state: 'RUNNING',
    workshop: { name: JAVA.name, resource: JAVA.name },
    capacity: 4,
    reserved: 2,
    allocated: 1,
    available: 2,
  };
  expect(world.portal.answer(CATALOG)).toEqual({
    status: 200,
    body: { portal: { generation: 2 }, environments: [java] },
  });
  expect(world.portal.answer(status('campus-labs-w01'))).toEqual({ status: 200, body: java });
  expect(world.portal.answer(status('campus-labs-w99')).status).toBe(403);

  await world.setPortal({ workshops: [] });
  await world.run(2_000);
  expect(world.portal.answer(status('campus-labs-w01'))).toEqual({
    status: 200,
    body: { ...java, state: 'STOPPING', capacity: 0, reserved: 0, available: 0 },
  });
});

test('an environment that was never taken into use makes the portal fail, and so gives itself away', async () => {
  const world = await campus({}, []);
  world.portal.lockDatabase(50_000);
  await world.workshop(JAVA.name);
  await world.setPortal({ workshops: [JAVA] });
  await world.run(20_000);
  expect(world.portal.answer(status('campus-labs-w01')).status).toBe(500);
  expect(world.portal.answer(CATALOG, ['starting']).status).toBe(500);
  expect(world.portal.answer(CATALOG)).toMatchObject({ status: 200, body: { environments: [] } });

  await world.setPortal({ workshops: [] });
  await world.run(2_000);
  expect(world.portal.answer(CATALOG, ['running', 'stopping']).status).toBe(500);
  await world.run(60_000);
  expect(world.portal.answer(CATALOG, ['running', 'stopping']).status).toBe(200);
  expect(world.portal.answer(CATALOG, ['stopped']).status).toBe(500);
});
