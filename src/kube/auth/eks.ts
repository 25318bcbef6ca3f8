import { Sha256 } from '@aws-crypto/sha256-js';
import { SignatureV4 } from '@smithy/signature-v4';
import type { Clock } from '../../clock.ts';
import type { Cluster } from './cluster.ts';

/** AWS credentials, as its SDK hands them out. */
export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
}

export interface EksCluster {
  readonly server: string;
  readonly ca?: string;
  /** The cluster's name in EKS: the token is good for no other one. */
  readonly name: string;
  readonly region: string;
  /** The credentials now; asked for at each new token, for they end too. */
  readonly credentials: () => Promise<AwsCredentials>;
  readonly clock: Pick<Clock, 'now'>;
}

// EKS takes a token for 15 minutes; the credentials under it may end a little sooner.
const TOKEN_AGE_MAX_MS = 10 * 60_000;
/** What the signature itself says: within this time the token must be seen for the first time. */
const EXPIRES_SECONDS = 60;
const PREFIX = 'k8s-aws-v1.';

/** A cluster of EKS, reached as whoever the credentials belong to. */
export function eksCluster(options: EksCluster): Cluster {
  const { server, ca, clock } = options;
  let token: Promise<string> | undefined;
  let madeAt = 0;
  return {
    server,
    ...(ca === undefined ? {} : { ca }),
    token(refresh) {
      const now = clock.now();
      // A token that was made after the refused one is a new one already: passes side by side share it.
      const isYoung = now - madeAt < (refresh ? 1_000 : TOKEN_AGE_MAX_MS);
      if (token !== undefined && isYoung) return token;
      madeAt = now;
      const made = eksToken(options, now);
      token = made;
      made.catch(() => {
        if (token === made) token = undefined;
      });
      return made;
    },
  };
}

/** The token of `aws eks get-token`: a presigned question to STS who we are, which the cluster asks in our name. */
async function eksToken({ name, region, credentials }: EksCluster, now: number): Promise<string> {
  const hostname = `sts.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
  const signer = new SignatureV4({
    service: 'sts',
    region,
    credentials: await credentials(),
    sha256: Sha256,
  });
  const { query = {} } = await signer.presign(
    {
      method: 'GET',
      protocol: 'https:',
      hostname,
      path: '/',
      query: { Action: 'GetCallerIdentity', Version: '2011-06-15' },
      headers: { host: hostname, 'x-k8s-aws-id': name },
    },
    { expiresIn: EXPIRES_SECONDS, signingDate: new Date(now) },
  );
  // The order in which the command line tool writes them; a server does not care, whoever compares does.
  const names = ['Action', 'Version', ...AMZ.map((suffix) => `X-Amz-${suffix}`)];
  const text = names.flatMap((key) => {
    const value = query[key];
    return typeof value === 'string' ? [`${key}=${encode(value)}`] : [];
  });
  return PREFIX + Buffer.from(`https://${hostname}/?${text.join('&')}`).toString('base64url');
}

const AMZ = ['Algorithm', 'Credential', 'Date', 'Expires', 'SignedHeaders', 'Security-Token', 'Signature'];

function encode(value: string): string {
  return encodeURIComponent(value).replace(
    /[!'()*]/g,
    (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
