import * as z from 'zod/mini';
import { createInvoke } from '../src/app/functions/invoke.ts';
import { readFunctionConfig } from '../src/config.ts';
import { door, runtime } from './_runtime.ts';

const config = readFunctionConfig(['clustersFile', 'queueUrl', 'laterUrl', 'busName']);
const invoke = createInvoke(config, runtime);

/** What a person types into the console's Test tab, or passes to `aws lambda invoke`. */
const OrderSchema = z.strictObject({
  action: z.enum(['plan', 'reconcile', 'status', 'explain']),
  pool: z.optional(z.string().check(z.maxLength(1_024))),
  all: z.optional(z.boolean()),
});

/** By hand: a look, a dry run, or a pass, of one pool or of all. */
export const handler = door(OrderSchema, (order, context) =>
  invoke(order, () => context.getRemainingTimeInMillis()),
);
