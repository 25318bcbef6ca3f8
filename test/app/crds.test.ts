import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const OWN = 'src/app/crds';
const RECORDED = 'test/fixtures/theia-cloud/crds';

describe("the own cluster's kinds", () => {
  it('are the recorded ones', () => {
    const files = readdirSync(RECORDED).sort();
    expect(readdirSync(OWN).sort()).toEqual(files);
    for (const file of files) {
      const read = (folder: string): unknown => JSON.parse(readFileSync(`${folder}/${file}`, 'utf8'));
      expect(read(OWN)).toEqual(read(RECORDED));
    }
  });
});
