import * as z from 'zod/mini';
import { createResync } from '../src/app/functions/resync.ts';
import { readFunctionConfig } from '../src/config.ts';
import { door, runtime } from './_runtime.ts';

const resync = createResync(readFunctionConfig(['clustersFile', 'queueUrl']), runtime);

/** What the schedule hands over: its moment. By hand, `{}` does as well. */
const TickSchema = z.object({ time: z.optional(z.string().check(z.maxLength(64))) });

/** Looks at everything on a schedule, whether or not anything was said, and enqueues what has something to do. */
export const handler = door(TickSchema, ({ time }, { awsRequestId }) => resync(time ?? awsRequestId));
