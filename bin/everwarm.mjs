#!/usr/bin/env node
// The command of the package. Node refuses to run TypeScript below node_modules, so it runs from a clone only.
import { existsSync } from 'node:fs';
import { run } from './bootstrap.mjs';

if (!existsSync(new URL('../package-lock.json', import.meta.url))) {
  console.error(
    'everwarm runs from a clone of its repository: clone it, then `npm start` (or `npm link` there)',
  );
  process.exit(2);
}
await run('src/cli/main.ts', process.argv.slice(2));
