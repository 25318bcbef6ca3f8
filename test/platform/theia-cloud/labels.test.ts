import { expect, it } from 'vitest';
import { GENERATION_LABEL, generationOf } from '../../../src/platform/theia-cloud/labels.ts';
import { recorded } from './_recorded.ts';

const labelled = (value: string) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'instance-1', labels: { [GENERATION_LABEL]: value } },
});

it('reads the generation that the operator wrote', () => {
  const services = recorded('k-image-change-while-down/after.json').filter(
    ({ kind, metadata }) => kind === 'Service' && metadata.name.startsWith('instance-'),
  );
  expect(services.map(generationOf)).toEqual([1, 1, 5, 5, 5, 5]);
});

it.each(['', 'six', '-1', '1.5', '0x10', ' 6', '6 ', '1e3', '9'.repeat(30)])(
  'takes %j for no generation',
  (value) => {
    expect(generationOf(labelled(value))).toBeUndefined();
  },
);

it('takes a missing label for no generation', () => {
  expect(generationOf({ apiVersion: 'v1', kind: 'Service', metadata: { name: 'bare' } })).toBeUndefined();
});
