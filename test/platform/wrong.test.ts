import { expect, it } from 'vitest';
import { z } from 'zod';
import { parseAppDefinition } from '../../src/platform/theia-cloud/crds.ts';
import { readWarmPool } from '../../src/platform/warm-pool.ts';
import { wrongIn } from '../../src/platform/wrong.ts';
import { appDefinition } from '../../src/simulator/world/theia-install.ts';

it.each([
  { schema: z.int().min(0), value: -1, says: 'is negative' },
  { schema: z.int().min(3), value: 2, says: 'is less than 3' },
  { schema: z.int().max(9), value: 10, says: 'is greater than 9' },
  { schema: z.string().min(1), value: '', says: 'is empty' },
  { schema: z.string().min(12), value: 'short', says: 'is too short' },
  { schema: z.string(), value: 3, says: 'is not text' },
  { schema: z.int(), value: 1.5, says: 'is not a whole number' },
  { schema: z.boolean(), value: 'yes', says: 'is not true or false' },
  { schema: z.array(z.string()), value: 'x', says: 'is not a list' },
  { schema: z.looseObject({}), value: 3, says: 'is not an object' },
  { schema: z.number(), value: 'x', says: 'is not a number' },
  { schema: z.enum(['observe', 'guard']), value: 'own', says: 'is not one of observe, guard' },
  { schema: z.literal('v1'), value: 'v2', says: 'is not v1' },
  { schema: z.strictObject({}), value: { colour: 1 }, says: 'has colour, which is not known' },
  { schema: z.union([z.string(), z.number()]), value: {}, says: 'is of the wrong kind' },
  { schema: z.string().regex(/^a$/), value: 'b', says: 'is not written as it must be' },
  { schema: z.string().regex(/^a$/, { error: 'is no a' }), value: 'b', says: 'is no a' },
])('$value $says', ({ schema, value, says }) => {
  expect(wrongIn(schema.safeParse(value).error?.issues[0])).toBe(says);
});

it('is said with the name of the field', () => {
  const made = appDefinition('java', { minInstances: -1 });
  const metadata = {
    ...made.metadata,
    namespace: 'ide',
    uid: '0a1b2c3d-0000-0000-0000-000000000001',
    resourceVersion: '1',
    generation: 1,
  };
  expect(parseAppDefinition({ ...made, metadata })).toEqual({
    kind: 'invalid',
    field: 'spec.minInstances',
    reason: 'is negative',
  });
  const pool = { apiVersion: 'everwarm.dev/v1alpha1', kind: 'WarmPool', metadata: { name: 'java' } };
  expect(readWarmPool({ ...pool, spec: { mode: 'own' } }, 'guard').problem).toBe(
    'spec.mode is not one of observe, guard',
  );
});
