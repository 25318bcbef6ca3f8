/** Stands in for Lambda's runtime in a process of its own: imports a handler and gives it the events that its parent sends. */
import { performance } from 'node:perf_hooks';
import { pathToFileURL } from 'node:url';

interface Call {
  readonly id: number;
  readonly event: unknown;
  readonly remainingMs: number;
}

const startedAt = performance.now();
const [, , file = ''] = process.argv;
const send = (message: object): void => void process.send?.(message);

try {
  const { handler } = (await import(pathToFileURL(file).href)) as {
    handler: (event: unknown, context: object) => Promise<unknown>;
  };
  process.on('message', ({ id, event, remainingMs }: Call) => {
    const deadline = performance.now() + remainingMs;
    const context = {
      awsRequestId: `request-${id}`,
      functionName: 'everwarm-test',
      getRemainingTimeInMillis: () => Math.max(0, deadline - performance.now()),
    };
    handler(event, context).then(
      (result) => send({ id, result }),
      (error: Error) => send({ id, error: { name: error.name, message: error.message } }),
    );
  });
  send({ readyMs: performance.now() - startedAt });
} catch (error) {
  send({ failed: error instanceof Error ? `${error.name}: ${error.message}` : 'unknown' });
  process.disconnect?.();
}
