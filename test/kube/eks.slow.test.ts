import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { eksCluster } from '../../src/kube/auth/eks.ts';

const hasAws = spawnSync('aws', ['--version'], { stdio: 'ignore' }).status === 0;

it('a token for EKS is the one that the installed aws-cli makes in the same second', async ({ skip }) => {
  if (!hasAws) skip('aws is not on PATH');
  const credentials = {
    accessKeyId: 'ASIAEXAMPLE',
    secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
    sessionToken: 'a+b/c==',
  };
  const { stdout } = spawnSync(
    'aws',
    ['eks', 'get-token', '--cluster-name', 'ide', '--region', 'eu-west-3'],
    {
      encoding: 'utf8',
      env: {
        ...process.env,
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        AWS_SESSION_TOKEN: credentials.sessionToken,
      },
    },
  );
  const { token } = (JSON.parse(stdout) as { status: { token: string } }).status;
  const signed = Buffer.from(token.split('.')[1] ?? '', 'base64url').toString();
  const [, date, time] = /X-Amz-Date=(\d{8})T(\d{6})Z/.exec(signed) ?? [];
  const at = `${date}${time}`.replace(/(....)(..)(..)(..)(..)(..)/, '$1-$2-$3T$4:$5:$6Z');
  const cluster = eksCluster({
    server: 'https://eks.test',
    name: 'ide',
    region: 'eu-west-3',
    credentials: async () => credentials,
    clock: { now: () => Date.parse(at) },
  });
  expect(await cluster.token(false)).toBe(token);
});
