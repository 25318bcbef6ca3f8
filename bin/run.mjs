#!/usr/bin/env node
// `node bin/run.mjs FILE [ARGUMENTS]`: runs a file of the repository under Node 24, installing what is missing first.
import { run } from './bootstrap.mjs';

const [target, ...args] = process.argv.slice(2);
if (target === undefined) {
  console.error('usage: node bin/run.mjs FILE [ARGUMENTS]');
  process.exit(2);
}
await run(target, args);
