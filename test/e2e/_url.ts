import { createServer } from 'node:http';
import { HEARTBEAT_TYPE } from '../../src/transport/heartbeat.ts';
import { urlEvent } from '../functions/_events.ts';
import type { Lambda } from '../functions/_lambda.ts';

/** The function URL of the webhook: one that can lose notices on their way. */
export interface FunctionUrl {
  readonly url: string;
  /** Notices that were said to have arrived, and were not passed on. */
  lost(): number;
  stop(): void;
}

const HEARTBEAT = `"${HEARTBEAT_TYPE}"`;

/** Listens on the loopback address. Of the notices, every `losesEvery`-th is lost (0: none); signs of life are not. */
export async function startUrl(webhook: () => Promise<Lambda>, losesEvery: number): Promise<FunctionUrl> {
  let notices = 0;
  let lost = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += String(chunk);
    if (!body.includes(HEARTBEAT)) {
      notices += 1;
      if (losesEvery > 0 && notices % losesEvery === 0) {
        lost += 1;
        response.writeHead(202).end('{}');
        return;
      }
    }
    const headers = Object.fromEntries(
      Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
    );
    const { url: path = '', method = '' } = request;
    try {
      const lambda = await webhook();
      const answer = await lambda.invoke(urlEvent(body, headers, { path, method }));
      const { statusCode, body: text } = answer as { statusCode: number; body: string };
      response.writeHead(statusCode, { 'content-type': 'application/json' }).end(text);
    } catch {
      // As Lambda answers for a function that fell over.
      response.writeHead(502).end('{"Message":"Internal Server Error"}');
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return {
    url: `http://127.0.0.1:${port}`,
    lost: () => lost,
    stop() {
      server.close();
      server.closeAllConnections();
    },
  };
}
