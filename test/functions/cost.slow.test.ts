import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { costTable } from '../../infra/_cost.ts';

const DOC = readFileSync(new URL('../../docs/deploy-aws.md', import.meta.url), 'utf8');

it('the table of costs in the docs is what the prices and the work that is counted now come to', async () => {
  const written = /<!-- npm run cost -->\n\n([\s\S]*?)\n\n<!-- end -->/.exec(DOC)?.[1];
  expect(written).toBe(await costTable());
});
