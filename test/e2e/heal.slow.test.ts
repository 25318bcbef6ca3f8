import { afterAll, beforeAll, expect, it } from 'vitest';
import { packageService, type Template } from '../functions/_template.ts';
import { makePackages, type Packages } from './_scene.ts';
import { differences, roleFlaws, type Told, tellAll } from './_told.ts';

/** The short form of `npm run test:e2e`: nothing ends but notices, and the end of SQS, the API server and a function. */
const SEEDS = [undefined, 1, 2, 3];

let packages: Packages;
let template: Template;
let told: readonly Told[];

beforeAll(async () => {
  template = packageService().template;
  packages = await makePackages();
  told = await tellAll({ packages, seeds: SEEDS, lanes: 2 });
});
afterAll(() => packages.remove());

it('a release that nobody was there to hear heals, whichever process ends in the middle of it', () => {
  expect(told.flatMap(({ title, complaints }) => complaints.map((one) => `${title}: ${one}`))).toEqual([]);
  expect(told).toHaveLength(SEEDS.length);
});

it('all of them end in the same state', () => {
  expect(differences(told)).toEqual([]);
});

it('together the functions use what their roles let them do, and nothing else', () => {
  expect(
    roleFlaws(
      template,
      told.flatMap(({ calls }) => calls),
    ),
  ).toEqual([]);
});
