import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { systemClock as clock, type Random } from '../../src/clock.ts';

/** What may become of a request on its way. `lost` and what is behind it answer 202: the sender does not come again. */
const FATES = ['kept', 'broken', 'unanswered', 'doubled', 'lost', 'late', 'redriven'] as const;
type Fate = (typeof FATES)[number];

const LATE_MAX_MS = 4_000;

/** A bad way to a door, on sockets of its own. */
export interface LossyProxy {
  readonly url: string;
  /** How many requests met which fate. */
  readonly counts: Readonly<Record<Fate, number>>;
  /** Sends what was kept back, in any order; resolves when all of it, and all that was late, has been answered. */
  redrive(): Promise<void>;
  /** Takes nothing more; resolves when all that is late has been answered. */
  stop(): Promise<void>;
}

/** Stands in front of the door at `door`, and treats each request as `random` has it. */
export async function startLossyProxy(door: string, random: Random): Promise<LossyProxy> {
  const counts: Record<Fate, number> = {
    kept: 0,
    broken: 0,
    unanswered: 0,
    doubled: 0,
    lost: 0,
    late: 0,
    redriven: 0,
  };
  const lying: (() => Promise<unknown>)[] = [];
  const onTheWay: Promise<unknown>[] = [];
  const keepBack: Readonly<Partial<Record<Fate, (forward: () => Promise<unknown>) => void>>> = {
    lost: () => undefined,
    late: (forward) => onTheWay.push(clock.sleep(random() * LATE_MAX_MS).then(forward)),
    redriven: (forward) => lying.splice(Math.floor(random() * (lying.length + 1)), 0, forward),
  };
  const treat = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const body = await bytesOf(request);
    const forward = () => passOn(`${door}${request.url}`, request, body);
    const fate = FATES[Math.floor(random() * FATES.length)] ?? 'kept';
    counts[fate] += 1;
    if (fate === 'broken') return void response.destroy();
    const keep = keepBack[fate];
    keep?.(forward);
    const answer = keep === undefined ? await forward() : { status: 202, text: '{}' };
    if (fate === 'doubled') await forward();
    if (fate === 'unanswered') response.destroy();
    else response.writeHead(answer.status).end(answer.text);
  };
  const server = createServer((request, response) => {
    // A sender or a door that went away in the middle: one more broken request.
    treat(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    counts,
    async redrive() {
      await Promise.all(onTheWay);
      for (const forward of lying.splice(0)) await forward();
    },
    async stop() {
      server.close();
      server.closeAllConnections();
      await Promise.all(onTheWay);
    },
  };
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}

async function passOn(url: string, { headers }: IncomingMessage, body: Buffer) {
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const signed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const answer = await fetch(url, { method: 'POST', headers: signed, body: new Uint8Array(body) });
  return { status: answer.status, text: await answer.text() };
}
