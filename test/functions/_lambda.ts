import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';

/** A function in a process of its own, as Lambda runs it. */
export interface Lambda {
  readonly pid: number;
  /** Resolves when its process is over, whoever ended it. */
  readonly ended: Promise<void>;
  /** How long its module took to load. */
  readonly readyMs: number;
  /** Everything that it wrote, its errors included. */
  output(): string;
  /** Resolves when it has written `text`: its output takes another way than its answers. */
  wrote(text: string): Promise<void>;
  /** Rejects with the handler's error, and when the process ends before it answers. */
  invoke(event: unknown, remainingMs?: number): Promise<unknown>;
  stop(): Promise<void>;
}

type Reply =
  | { readonly readyMs: number }
  | { readonly failed: string }
  | { readonly id: number; readonly result?: unknown; readonly error?: { name: string; message: string } };

const HOST = fileURLToPath(new URL('_host.ts', import.meta.url));
const REMAINING_MS = 60_000;

/** Starts the handler of `file`. Rejects with its error when it fails at init. */
export async function startLambda(file: string, env: Readonly<Record<string, string>>): Promise<Lambda> {
  const child = fork(HOST, [file], { env: { PATH: process.env['PATH'] ?? '', ...env }, silent: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  const calls = new Map<number, PromiseWithResolvers<unknown>>();
  const init = Promise.withResolvers<number>();
  child.on('message', (reply: Reply) => {
    if ('readyMs' in reply) init.resolve(reply.readyMs);
    else if ('failed' in reply) init.reject(new Error(reply.failed));
    else if (reply.error === undefined) calls.get(reply.id)?.resolve(reply.result);
    else
      calls.get(reply.id)?.reject(Object.assign(new Error(reply.error.message), { name: reply.error.name }));
  });
  const exited = endOf(child, () => output, init, calls);
  let count = 0;
  return {
    pid: child.pid ?? 0,
    ended: exited,
    readyMs: await init.promise,
    output: () => output,
    async wrote(text) {
      while (!output.includes(text)) await once(child.stdout ?? child, 'data');
    },
    invoke(event, remainingMs = REMAINING_MS) {
      count += 1;
      const call = Promise.withResolvers<unknown>();
      calls.set(count, call);
      child.send({ id: count, event, remainingMs }, (error) => {
        if (error !== null) call.reject(error);
      });
      return call.promise;
    },
    async stop() {
      child.kill();
      await exited;
    },
  };
}

async function endOf(
  child: ChildProcess,
  output: () => string,
  init: PromiseWithResolvers<number>,
  calls: ReadonlyMap<number, PromiseWithResolvers<unknown>>,
): Promise<void> {
  await new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const error = new Error(`the function's process ended: ${output().slice(-500)}`);
  init.reject(error);
  for (const call of calls.values()) call.reject(error);
}

/** Unpacks a zip into a directory of its own; the returned function removes it. */
export async function unzip(file: string): Promise<{ readonly directory: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), 'everwarm-task-'));
  const bytes = await readFile(file);
  for (const { name, content } of entriesOf(bytes)) await writeFile(join(directory, name), content);
  return { directory, remove: () => rm(directory, { recursive: true }) };
}

/** The entries that the zip's central directory lists. */
function entriesOf(zip: Buffer): readonly { readonly name: string; readonly content: Buffer }[] {
  const end = zip.lastIndexOf(Buffer.from('PK\u0005\u0006'));
  let at = zip.readUInt32LE(end + 16);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    const [size, nameLength] = [zip.readUInt32LE(at + 20), zip.readUInt16LE(at + 28)];
    const local = zip.readUInt32LE(at + 42);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const isStored = zip.readUInt16LE(at + 10) === 0;
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
    const start = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
    const packed = zip.subarray(start, start + size);
    return { name, content: isStored ? packed : inflateRawSync(packed) };
  });
}
