import httpErrorHandler from '@middy/http-error-handler';
import httpHeaderNormalizer from '@middy/http-header-normalizer';
import * as z from 'zod/mini';
import { createWebhook } from '../src/app/functions/webhook.ts';
import { readFunctionConfig } from '../src/config.ts';
import { door, runtime } from './_runtime.ts';

/** What a function URL hands over (payload format 2.0), as far as it is looked at. */
const UrlEventSchema = z.object({
  rawPath: z.string(),
  requestContext: z.object({ http: z.object({ method: z.string() }) }),
  headers: z.record(z.string(), z.optional(z.string())),
  body: z._default(z.string(), ''),
  isBase64Encoded: z._default(z.boolean(), false),
});

const answer = createWebhook(readFunctionConfig(['clustersFile', 'queueUrl']), runtime);

/** Takes signed notices from forwarders; anybody may knock. */
export const handler = door(UrlEventSchema, async ({ requestContext, ...request }) => {
  const {
    status: statusCode,
    headers,
    body,
  } = await answer({ ...request, method: requestContext.http.method });
  return { statusCode, headers, body };
})
  .use(httpHeaderNormalizer())
  .use(httpErrorHandler({ logger: false, fallbackMessage: '{"error":"cannot take it now"}' }));
