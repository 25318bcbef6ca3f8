import { parentPort, workerData } from 'node:worker_threads';
import { createWire } from '../real-cluster/wire.ts';
import { HEAD_BYTES, type SyncOptions } from './_sync.ts';

const { memory, ...options }: SyncOptions = workerData;
const head = new Int32Array(memory, 0, 3);
const bytes = new Uint8Array(memory, HEAD_BYTES);
const wire = createWire(options);

function answer(status: number, text: string): void {
  const { written } = new TextEncoder().encodeInto(text, bytes);
  head[1] = status;
  head[2] = written;
  Atomics.store(head, 0, 1);
  Atomics.notify(head, 0);
}

parentPort?.on('message', ([method, path, body, mediaType]: Parameters<typeof wire.send>) => {
  wire.send(method, path, body, mediaType).then(
    ({ status, text }) => answer(status, text),
    (error: unknown) => answer(0, String(error)),
  );
});
