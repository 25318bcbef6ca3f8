import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { FunctionConfig } from '../../config.ts';
import { createDoor, type Reply } from '../../transport/door.ts';
import { accept, servedBy } from './accept.ts';
import { readClustersFile } from './clusters-file.ts';
import type { Runtime } from './runtime.ts';
import { createSecrets } from './secrets.ts';
import { createSigningKeys } from './signing-keys.ts';
import { openSqsQueue } from './sqs.ts';

/** A request as a function URL hands it over, as far as it is looked at. Header names are in lower case. */
export interface UrlRequest {
  readonly rawPath: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
  /** The body arrived as something that is not text. */
  readonly isBase64Encoded: boolean;
}

/** The ingest door behind a function URL. Throws TerminalError when the clusters' file cannot be used. */
export function createWebhook(
  { clustersFile, queueUrl }: Pick<FunctionConfig, 'clustersFile' | 'queueUrl'>,
  runtime: Runtime,
): (request: UrlRequest) => Promise<Reply> {
  const clusters = readClustersFile(clustersFile);
  const readSecret = createSecrets({ client: new SecretsManagerClient(), clock: runtime.clock });
  const queue = openSqsQueue({ queueUrl }, runtime);
  const door = createDoor({
    ...runtime,
    secretOf: createSigningKeys(clusters, readSecret),
    serves: servedBy(clusters),
    accept: (message) => accept(message, queue, runtime),
  });
  return ({ rawPath, method, headers, body, isBase64Encoded }) =>
    door.answer({
      method,
      path: rawPath,
      headers: {
        id: values(headers['webhook-id']),
        timestamp: values(headers['webhook-timestamp']),
        // A comma belongs to every signature; two headers joined by one are a signature that fits nothing.
        signature: headers['webhook-signature'] === undefined ? [] : [headers['webhook-signature']],
      },
      // JSON is text: what was flagged as something else stays as it travelled, and fits no signature.
      body: Buffer.from(body, isBase64Encoded ? 'latin1' : 'utf8'),
    });
}

/** A function URL joins a header that came twice with a comma, which none of ours may hold. */
function values(header: string | undefined): readonly string[] {
  return header === undefined ? [] : header.split(',');
}
