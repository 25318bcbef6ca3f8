import type { Clock, Random } from '../clock.ts';
import { type Forwarder, startForwarder } from '../forwarder/main.ts';
import type { KubeClient } from '../kube/client.ts';
import type { Platform } from '../platform/platform.ts';
import type { Log } from '../telemetry/log.ts';
import { makeHeartbeat } from '../transport/heartbeat.ts';
import { createWebhookClient, type WebhookClient } from '../transport/webhook-client.ts';
import type { ForwardConfig } from './forward-config.ts';
import { type HealthServer, serveHealth } from './health-server.ts';
import { silentKinds } from './liveness.ts';
import { addSendingMetrics, addWatchMetrics, createPrometheus, type Prometheus } from './prometheus.ts';

export interface ForwardDeps {
  readonly api: KubeClient;
  readonly platforms: readonly Pick<Platform, 'name' | 'watches' | 'keysOf' | 'poolIn'>[];
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** A forwarder at work. */
export interface Forwarding {
  /** Where /livez, /readyz and /metrics are. */
  readonly health: string;
  /** Resolves when every kind was listed once, or turned out not to be served to us. */
  readonly ready: Promise<void>;
  /** Ends the watches and sends what is known, for as long as the configuration allows. Then everything is over. */
  stop(): Promise<'drained' | 'cut'>;
}

/** Watches the cluster and tells the door which pools something happened to; beside it, that it is alive. */
export async function startForwarding(config: ForwardConfig, deps: ForwardDeps): Promise<Forwarding> {
  const { clock, random, log, platforms, api } = deps;
  const { cluster, namespaces, webhook, health } = config;
  const prometheus = await createPrometheus();
  const metrics = addSendingMetrics(prometheus);
  const stopping = new AbortController();
  const { signal } = stopping;
  const client = createWebhookClient({
    ...webhook,
    clock,
    random,
    log,
    signal,
    observer: { retried: metrics.retried, replied: metrics.skew },
  });
  const startedAt = clock.now();
  let sent = 0;
  let isReady = false;
  // The port first: whoever asks while the cluster cannot be reached gets an answer.
  const state: { forwarder?: Forwarder } = {};
  const server = await serve(health, prometheus, {
    dead: () => silentKinds(state.forwarder?.kinds() ?? [], { now: clock.now(), startedAt }),
    unready: () => (isReady ? undefined : 'not every kind was listed yet'),
  });
  const forwarder = startForwarder({
    api,
    clock,
    random,
    platforms,
    log,
    clusterId: cluster,
    namespaces,
    send: async (notice) => {
      if ((await client.send(notice)) !== 'accepted') return;
      sent += 1;
      metrics.sent();
    },
  });
  state.forwarder = forwarder;
  addWatchMetrics(prometheus, { ...forwarder, now: () => clock.now(), startedAt });
  void forwarder.ready.then(() => {
    isReady = true;
  });
  const beats = keepBeating(config, { clock, random, client, signal, sent: () => sent });
  return {
    health: server.url,
    ready: forwarder.ready,
    async stop() {
      isReady = false;
      const cut = clock.sleep(config.drainSeconds * 1_000, signal).then(() => 'cut' as const);
      const end = await Promise.race([forwarder.drain().then(() => 'drained' as const), cut]);
      if (end === 'cut') log.warn('forward.cut', { unsent: forwarder.outbox().size });
      stopping.abort();
      await forwarder.stop();
      await beats;
      await server.stop();
      api.close();
      return end;
    },
  };
}

function serve(
  address: ForwardConfig['health'],
  { registry }: Prometheus,
  state: { readonly dead: () => string | undefined; readonly unready: () => string | undefined },
): Promise<HealthServer> {
  const metrics = async () => ({ contentType: registry.contentType, text: await registry.metrics() });
  return serveHealth(address, { ...state, metrics });
}

interface Beating {
  readonly clock: Clock;
  readonly random: Random;
  readonly client: WebhookClient;
  readonly signal: AbortSignal;
  /** Notices that the door took since the start. */
  readonly sent: () => number;
}

/**
 * A sign of life each minute, with how many notices were sent since the last one that arrived: what the receiver counted
 * beside it shows losses, and its absence that nobody watches. One that cannot be sent is tried until it arrives.
 */
async function keepBeating(config: ForwardConfig, beating: Beating): Promise<void> {
  const { clock, random, client, signal, sent } = beating;
  const epoch = Math.floor(random() * 2 ** 48).toString(36);
  let told = 0;
  for (let beat = 1; ; beat += 1) {
    await clock.sleep(config.heartbeatSeconds * 1_000, signal);
    if (signal.aborted) return;
    const total = sent();
    const parts = { cluster: config.cluster, epoch, beat, observedAt: clock.now(), sent: total - told };
    if ((await client.send(makeHeartbeat(parts))) === 'accepted') told = total;
  }
}
