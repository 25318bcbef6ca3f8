import { createReconciler } from '../src/app/functions/reconcile.ts';
import { readFunctionConfig } from '../src/config.ts';
import { door, failures, runtime, SqsEventSchema } from './_runtime.ts';

const config = readFunctionConfig(['clustersFile', 'queueUrl', 'laterUrl', 'busName']);
const reconcile = createReconciler(config, runtime);

/** Work-queue consumer: a batch holds several pool keys; each key is one pass, keys side by side. */
export const handler = door(SqsEventSchema, async ({ Records }, context) =>
  failures(await reconcile(Records, () => context.getRemainingTimeInMillis())),
);
