import { expect, test } from 'vitest';
import { PORTAL_MENDED } from '../../../../src/simulator/world/educates/portal-faults.ts';
import { environments } from './_campus.ts';
import { STORIES } from './_fault-stories.ts';

test.each(STORIES)(
  '$what: as observed, and as it should be',
  async ({ fault, tell, see = environments, observed, mended }) => {
    expect(await see(await tell({}))).toEqual(observed);
    expect(await see(await tell({ ...PORTAL_MENDED }))).toEqual(mended);
    expect(await see(await tell({ ...PORTAL_MENDED, [fault]: true }))).toEqual(observed);
  },
);
