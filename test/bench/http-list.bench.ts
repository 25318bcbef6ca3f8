import { once } from 'node:events';
import { Agent, get } from 'node:https';
import { seededRandom, systemClock } from '../../src/clock.ts';
import { serve } from '../../src/embedded/http.ts';
import { clusterOf } from './_deployments.ts';
import { type Measure, medianMs } from './measure.ts';

export const measures: readonly Measure[] = [
  {
    name: 'embedded.list-1000-over-http',
    unit: 'ms',
    goal: { atMost: 10 },
    run: async () => {
      const server = await serve(clusterOf(1_000), {
        clock: systemClock,
        random: seededRandom(1),
        tokens: { bench: 'bench' },
      });
      const agent = new Agent({ ca: server.caPem, keepAlive: true });
      const url = `${server.url}/apis/apps/v1/namespaces/default/deployments`;
      const value = await medianMs(() => download(url, agent));
      agent.destroy();
      await server.close();
      return value;
    },
  },
];

/** From the request to the last byte of the answer, over a connection that is already open. */
async function download(url: string, agent: Agent): Promise<void> {
  const [response] = await once(get(url, { agent, headers: { authorization: 'Bearer bench' } }), 'response');
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  if (response.statusCode !== 200 || bytes < 1_000_000)
    throw new Error(`${response.statusCode}, ${bytes} bytes`);
}
