import { beforeEach } from 'vitest';
import { findBinaries } from '../real-cluster/build.ts';

/** Where the real cluster's programs are missing its tests are skipped, and say why. */
beforeEach(({ skip }) => {
  const binaries = findBinaries();
  if (binaries.kind === 'missing') skip(binaries.reason);
});
