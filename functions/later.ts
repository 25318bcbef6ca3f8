import { createLater } from '../src/app/functions/later.ts';
import { readFunctionConfig } from '../src/config.ts';
import { door, failures, runtime, SqsEventSchema } from './_runtime.ts';

const feed = createLater(readFunctionConfig(['queueUrl']), runtime);

/** Consumer of the queue for later: keys whose time has come go to the work queue. */
export const handler = door(SqsEventSchema, async ({ Records }) => failures(await feed(Records)));
