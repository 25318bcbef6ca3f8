import middy from '@middy/core';
import type { Context, SQSBatchResponse } from 'aws-lambda';
import * as z from 'zod/mini';
import { createRuntime } from '../src/app/functions/runtime.ts';
import { readFunctionConfig } from '../src/config.ts';
import { TerminalError } from '../src/errors.ts';

/** Made once for a function's life: no state of a cluster, only clients and what they remember of tokens. */
export const runtime = createRuntime(readFunctionConfig(['stage']));

/** What an SQS event source mapping hands over, as far as it is looked at. */
export const SqsEventSchema = z.object({
  Records: z.array(z.object({ messageId: z.string(), body: z.string() })),
});

/** A door: an event is parsed before anything looks at it, and what fails is logged with its reason. */
export function door<S extends z.ZodMiniType, R>(
  schema: S,
  handle: (event: z.output<S>, context: Context) => Promise<R>,
) {
  return middy<z.output<S>, R>({ timeoutEarlyInMillis: 0 })
    .before((request) => {
      const result = schema.safeParse(request.event);
      if (!result.success) throw badEvent(result.error.issues[0]?.path ?? []);
      request.event = result.data;
    })
    .onError(({ error }) => {
      runtime.log.error('function.failed', { kind: error?.name, cause: error?.message });
    })
    .handler(handle);
}

/** Answers SQS with the messages that must come again. */
export function failures(ids: readonly string[]): SQSBatchResponse {
  return { batchItemFailures: ids.map((itemIdentifier) => ({ itemIdentifier })) };
}

function badEvent(path: readonly PropertyKey[]): Error {
  const where = path.map(String).join('.') || 'it';
  return Object.assign(new TerminalError(`not an event of this function: ${where} is wrong`), {
    statusCode: 400,
    expose: true,
  });
}
