/** `npm run cost [-- --write]`: prints the cost table that stands in docs/deploy-aws.md, or puts it there. */
import { readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { costTable } from './_cost.ts';

const { values: options } = parseArgs({ options: { write: { type: 'boolean', default: false } } });
const DOC = new URL('../docs/deploy-aws.md', import.meta.url);

const table = await costTable();
if (options.write) {
  const written = /(?<=<!-- npm run cost -->\n\n)[\s\S]*?(?=\n\n<!-- end -->)/;
  writeFileSync(
    DOC,
    readFileSync(DOC, 'utf8').replace(written, () => table),
  );
} else {
  process.stdout.write(`${table}\n`);
}
process.exit(0);
