import { SQSClient } from '@aws-sdk/client-sqs';
import type { FunctionConfig } from '../../config.ts';
import type { Queue } from '../../transport/queue.ts';
import { createSqsQueue } from '../../transport/sqs-queue.ts';
import type { Runtime } from './runtime.ts';

/** The queue of keys; without `laterUrl`, nothing can wait for a time. */
export function openSqsQueue(
  config: Pick<FunctionConfig, 'queueUrl'> & Partial<Pick<FunctionConfig, 'laterUrl'>>,
  runtime: Runtime,
): Queue {
  return createSqsQueue({ sqs: new SQSClient(), ...runtime, ...config });
}
