import type { App } from '../app.ts';
import type { Clock } from '../clock.ts';
import { serveHealth } from './health-server.ts';
import { silentKinds } from './liveness.ts';
import { addLoopMetrics, addWatchMetrics, createPrometheus, type LoopMetrics } from './prometheus.ts';

/** What surrounds a loop that runs as a pod of its own: probes and numbers. */
export interface Standalone {
  readonly url: string;
  readonly metrics: LoopMetrics;
  /** From now on it is this loop that is asked about. */
  follow(app: App): void;
  stop(): Promise<void>;
}

/** Serves probes and numbers; not ready before a loop is there and has listed every kind. */
export async function startStandalone(
  address: { readonly host: string; readonly port: number },
  { clock }: { readonly clock: Clock },
): Promise<Standalone> {
  const prometheus = await createPrometheus();
  const { registry } = prometheus;
  const startedAt = clock.now();
  const now = (): number => clock.now();
  let app: App | undefined;
  let isReady = false;
  const server = await serveHealth(address, {
    dead: () => silentKinds(app?.kinds() ?? [], { now: now(), startedAt }),
    unready: () => (isReady ? undefined : 'not every kind was listed yet'),
    metrics: async () => ({ contentType: registry.contentType, text: await registry.metrics() }),
  });
  return {
    url: server.url,
    metrics: addLoopMetrics(prometheus, now),
    follow(started) {
      app = started;
      addWatchMetrics(prometheus, { kinds: started.kinds, outbox: started.outbox, now, startedAt });
      void started.ready.then(() => {
        isReady = true;
      });
    },
    async stop() {
      isReady = false;
      await server.stop();
    },
  };
}
