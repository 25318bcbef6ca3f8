import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

const slow = 'test/**/*.slow.test.ts';
const real = 'test/**/*.real.test.ts';
/** Half an hour of a machine that has other things to do: what is real takes its time. */
const REAL_MS = 900_000;

/** `npm run check` runs the fast tests, `npm test` all of them; `npx vitest run test/pool` runs what stands there. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: [slow, real], testTimeout: 30_000 } },
      { test: { name: 'slow', include: [slow], testTimeout: REAL_MS, hookTimeout: REAL_MS } },
      {
        test: {
          name: 'real',
          include: [real],
          setupFiles: ['test/real/_present.ts'],
          testTimeout: REAL_MS,
          hookTimeout: REAL_MS,
          // Each file has a cluster of its own, in which it waits most of the time.
          sequence: { groupOrder: 1 },
          maxWorkers: 3,
        },
      },
      {
        // The stories of the scenarios once more, in a world that stands on a real API server.
        resolve: {
          alias: [
            {
              find: /^.*\/src\/simulator\/world\.ts$/,
              replacement: fileURLToPath(new URL('test/real/_world.ts', import.meta.url)),
            },
            {
              find: /^\.\/_kubectl-on\.ts$/,
              replacement: fileURLToPath(new URL('test/real/_kubectl-on.ts', import.meta.url)),
            },
          ],
        },
        test: {
          name: 'stories',
          include: ['test/scenarios/*.test.ts'],
          globalSetup: ['test/real/_global.ts'],
          setupFiles: ['test/real/_setup.ts'],
          testTimeout: REAL_MS,
          hookTimeout: REAL_MS,
          // Most of a story is waiting: some two dozen at a time share the cluster and keep two cores busy, each in a namespace
          // of its own. With many more the server no longer answers in time.
          sequence: { concurrent: true, groupOrder: 2 },
          maxConcurrency: 8,
          maxWorkers: 3,
        },
      },
    ],
  },
});
