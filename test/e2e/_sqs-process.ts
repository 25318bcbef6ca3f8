/**
 * SQS in a process of its own, with the queues of the stack. They live in its memory: whoever ends it takes what waits in them
 * away, which is more than SQS ever loses. What was lost is found by the next resync.
 */
import { startFauxqs } from 'fauxqs';
import { QUEUES } from '../functions/_aws.ts';
import { AWS } from '../transport/_mapping.ts';

const [, , port = '0'] = process.argv;
const { address, createQueue } = await startFauxqs({ port: Number(port), logger: false });
for (const [name, attributes] of Object.entries(QUEUES))
  createQueue(name, { region: AWS.region, attributes });
process.send?.({ type: 'ready', value: address });
// Nobody is left to ask: whoever started this is gone.
process.on('disconnect', () => process.exit(0));
