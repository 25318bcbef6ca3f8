import { defineConfig } from 'vitest/config';

/** One plain project for the mutation run, which narrows it to the tests of the mutated folder by `dir`. */
export default defineConfig({
  test: { include: ['**/*.test.ts'], exclude: ['**/*.slow.test.ts'], testTimeout: 30_000 },
});
