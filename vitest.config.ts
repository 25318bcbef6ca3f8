import { defineConfig } from 'vitest/config';

const slow = 'test/**/*.slow.test.ts';

/** `npm run check` runs the fast tests, `npm test` both; `npx vitest run test/pool` runs what stands there. */
export default defineConfig({
  test: {
    projects: [
      { test: { name: 'fast', include: ['test/**/*.test.ts'], exclude: [slow], testTimeout: 30_000 } },
      { test: { name: 'slow', include: [slow], testTimeout: 900_000, hookTimeout: 900_000 } },
    ],
  },
});
