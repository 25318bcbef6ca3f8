import * as z from 'zod/mini';
import { createIngest } from '../src/app/functions/ingest.ts';
import { readFunctionConfig } from '../src/config.ts';
import { door, runtime } from './_runtime.ts';

const ingest = createIngest(readFunctionConfig(['clustersFile', 'queueUrl']), runtime);

/** Target of the bus's rule: takes notices, signs of life and requests from whoever IAM lets put them there. */
export const handler = door(z.looseObject({ 'detail-type': z.string() }), ingest);
