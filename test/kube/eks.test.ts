import { describe, expect, it } from 'vitest';
import { type AwsCredentials, eksCluster } from '../../src/kube/auth/eks.ts';
import { leapingClock, START } from './_leaping-clock.ts';

const SECRET_KEY = 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY';

/** What `aws eks get-token` of aws-cli 1.45.11 printed for these credentials at that second. */
const RECORDED = [
  {
    title: "a user's credentials",
    at: '2026-11-30T21:41:10Z',
    name: 'ide',
    region: 'eu-central-1',
    credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET_KEY },
    token:
      'k8s-aws-v1.aHR0cHM6Ly9zdHMuZXUtY2VudHJhbC0xLmFtYXpvbmF3cy5jb20vP0FjdGlvbj1HZXRDYWxsZXJJZGVudGl0eSZWZXJzaW9uPTIwMTEtMDYtMTUmWC1BbXotQWxnb3JpdGhtPUFXUzQtSE1BQy1TSEEyNTYmWC1BbXotQ3JlZGVudGlhbD1BS0lERVhBTVBMRSUyRjIwMjYxMTMwJTJGZXUtY2VudHJhbC0xJTJGc3RzJTJGYXdzNF9yZXF1ZXN0JlgtQW16LURhdGU9MjAyNjExMzBUMjE0MTEwWiZYLUFtei1FeHBpcmVzPTYwJlgtQW16LVNpZ25lZEhlYWRlcnM9aG9zdCUzQngtazhzLWF3cy1pZCZYLUFtei1TaWduYXR1cmU9Y2IyYTVmNjdiNjhmM2ZhZWFmZGMyYWNkMzc1YzlmMTU1MzU0YjA3NzYyNjRkOTkzN2QwNzBkODk3YzU2NjgyNg',
  },
  {
    title: "a role's credentials",
    at: '2026-11-30T21:41:11Z',
    name: 'prod-eu',
    region: 'us-east-1',
    credentials: {
      accessKeyId: 'ASIAEXAMPLE',
      secretAccessKey: SECRET_KEY,
      sessionToken: 'IQoJb3JpZ2luX2VjE+/example//token==',
    },
    token:
      'k8s-aws-v1.aHR0cHM6Ly9zdHMudXMtZWFzdC0xLmFtYXpvbmF3cy5jb20vP0FjdGlvbj1HZXRDYWxsZXJJZGVudGl0eSZWZXJzaW9uPTIwMTEtMDYtMTUmWC1BbXotQWxnb3JpdGhtPUFXUzQtSE1BQy1TSEEyNTYmWC1BbXotQ3JlZGVudGlhbD1BU0lBRVhBTVBMRSUyRjIwMjYxMTMwJTJGdXMtZWFzdC0xJTJGc3RzJTJGYXdzNF9yZXF1ZXN0JlgtQW16LURhdGU9MjAyNjExMzBUMjE0MTExWiZYLUFtei1FeHBpcmVzPTYwJlgtQW16LVNpZ25lZEhlYWRlcnM9aG9zdCUzQngtazhzLWF3cy1pZCZYLUFtei1TZWN1cml0eS1Ub2tlbj1JUW9KYjNKcFoybHVYMlZqRSUyQiUyRmV4YW1wbGUlMkYlMkZ0b2tlbiUzRCUzRCZYLUFtei1TaWduYXR1cmU9OWQyMmYxZTFiY2QzNDBkNzkwMTY2ZGQyOTIzZTFjZDNjMDMxYzExYzNkYmVhNGYwNGE1NzE1NDgxNDk3NzBkOQ',
  },
];

describe('a token for EKS', () => {
  it.each(RECORDED)('is the one that the command line tool makes, with $title', async (recorded) => {
    const { at, name, region, credentials, token } = recorded;
    const clock = { now: () => Date.parse(at) };
    const server = 'https://eks.test';
    const cluster = eksCluster({ server, name, region, credentials: async () => credentials, clock });
    expect(await cluster.token(false)).toBe(token);
  });

  /** A cluster whose tokens are made with the `next` credentials. */
  function world(next: () => Promise<AwsCredentials>) {
    const clock = leapingClock();
    let asked = 0;
    const credentials = async () => {
      asked += 1;
      return await next();
    };
    const cluster = eksCluster({
      server: 'https://eks.test',
      name: 'ide',
      region: 'eu-central-1',
      credentials,
      clock,
    });
    return { clock, cluster, asked: () => asked };
  }
  const good = async () => ({ accessKeyId: 'AKIDEXAMPLE', secretAccessKey: SECRET_KEY });

  it('is used for ten minutes, by everybody at once, and not longer', async () => {
    const { clock, cluster, asked } = world(good);
    const [first, second] = await Promise.all([cluster.token(false), cluster.token(false)]);
    expect(second).toBe(first);
    await clock.advance(599_999);
    expect(await cluster.token(false)).toBe(first);
    await clock.advance(1);
    expect(await cluster.token(false)).not.toBe(first);
    expect(asked()).toBe(2);
  });

  it('is made anew when it was refused, once for all that were refused with it', async () => {
    const { clock, cluster, asked } = world(good);
    const first = await cluster.token(false);
    await clock.advance(60_000);
    const again = await Promise.all([cluster.token(true), cluster.token(true)]);
    expect(again[0]).not.toBe(first);
    expect(again[1]).toBe(again[0]);
    expect(asked()).toBe(2);
  });

  it('is tried again at once when there were no credentials', async () => {
    let tries = 0;
    const { cluster } = world(async () => {
      tries += 1;
      if (tries === 1) throw new Error('no credentials');
      return await good();
    });
    await expect(cluster.token(false)).rejects.toThrow('no credentials');
    expect(await cluster.token(false)).toMatch(/^k8s-aws-v1\./);
  });

  it('asks the STS of China in China', async () => {
    const clock = { now: () => START };
    const cluster = eksCluster({
      server: 'https://eks.test',
      name: 'ide',
      region: 'cn-north-1',
      credentials: good,
      clock,
    });
    const [, encoded = ''] = (await cluster.token(false))?.split('.') ?? [];
    expect(Buffer.from(encoded, 'base64url').toString()).toMatch(
      /^https:\/\/sts\.cn-north-1\.amazonaws\.com\.cn\/\?/,
    );
  });
});
