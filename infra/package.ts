/**
 * `npm run package [-- --stage NAME] [--clusters FILE] [--region NAME]`: the functions' zips and the CloudFormation template,
 * in `.serverless/`. Needs no network and no account.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bundleFunctions } from './bundle.ts';

const { values } = parseArgs({
  options: {
    stage: { type: 'string', default: 'dev' },
    region: { type: 'string', default: 'eu-central-1' },
    clusters: { type: 'string' },
    out: { type: 'string', default: '.serverless' },
  },
});
const { stage, region, out } = values;
const clustersFile = values.clusters ?? join('infra/aws/config', `${stage}.clusters.json`);

// Where serverless.yml looks for them.
const artifacts = await bundleFunctions({ clustersFile, directory: '.everwarm/functions' });
for (const { name, bytes, sha256 } of artifacts)
  process.stdout.write(
    `${name.padEnd(10)} ${String(Math.ceil(bytes / 1_000)).padStart(5)} kB  sha256 ${sha256}\n`,
  );

const { status } = spawnSync(
  process.execPath,
  ['node_modules/osls/bin/serverless.js', 'package', '--stage', stage, '--region', region, '--package', out],
  { stdio: 'inherit' },
);
process.exitCode = status ?? 1;
