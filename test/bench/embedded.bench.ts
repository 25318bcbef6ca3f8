import { clusterOf, createDeployment, patchDeployment, versionOf } from './_deployments.ts';
import { type Measure, perSecond } from './measure.ts';

export const measures: readonly Measure[] = [
  {
    name: 'embedded.creates',
    unit: '1/s',
    goal: { atLeast: 3_000 },
    run: () =>
      perSecond(2_000, () => {
        const store = clusterOf(0);
        return (index) => createDeployment(store, index);
      }),
  },
  {
    name: 'embedded.guarded-patches',
    unit: '1/s',
    goal: { atLeast: 5_000 },
    run: () =>
      perSecond(2_000, () => {
        const store = clusterOf(100);
        const versions = Array.from({ length: 100 }, (_, index) => versionOf(store, index));
        return (index) => {
          const slot = index % 100;
          versions[slot] = patchDeployment(store, slot, versions[slot] ?? '');
        };
      }),
  },
];
