import type { Counter, Gauge, Registry } from 'prom-client';
import type { LoopObserver } from '../app.ts';
import type { OutcomeEvent } from '../controller/outcome.ts';
import type { WatchedKind } from '../forwarder/main.ts';

/** What Prometheus reads of this process: its own numbers, and those that are added. */
export interface Prometheus {
  readonly registry: Registry;
  readonly Counter: typeof Counter;
  readonly Gauge: typeof Gauge;
}

/** Begins with the process's memory, CPU time and event loop. */
export async function createPrometheus(): Promise<Prometheus> {
  // Loaded here and nowhere else: the package costs 20 MB that no other command should pay.
  const { Counter, collectDefaultMetrics, Gauge, Registry } = await import('prom-client');
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  return { registry, Counter, Gauge };
}

/** What the watches and the outbox say of themselves when they are asked. */
export interface WatchSource {
  readonly kinds: () => readonly WatchedKind[];
  readonly outbox: () => { readonly size: number; readonly coalesced: number };
  readonly now: () => number;
  readonly startedAt: number;
}

const KIND_LABELS = ['platform', 'namespace', 'kind'] as const;

/** Adds the numbers of the watches and the outbox. They are read when they are scraped. */
export function addWatchMetrics({ registry, Counter, Gauge }: Prometheus, source: WatchSource): void {
  const registers = [registry];
  const each = (
    name: string,
    help: string,
    value: (kind: WatchedKind) => number,
    Metric: typeof Gauge | typeof Counter,
  ): void => {
    new Metric({
      name,
      help,
      registers,
      labelNames: [...KIND_LABELS],
      collect() {
        this.reset();
        for (const kind of source.kinds()) {
          const { platform, namespace, kind: of } = kind;
          this.inc({ platform, namespace, kind: of }, value(kind));
        }
      },
    });
  };
  const silence = ({ lastSeenAt }: WatchedKind) =>
    Math.max(0, (source.now() - (lastSeenAt ?? source.startedAt)) / 1_000);
  each('everwarm_watch_silence_seconds', 'Since the last byte, bookmark or list of a kind.', silence, Gauge);
  each('everwarm_watch_absent', '1 if the kind is not served to us.', (kind) => Number(kind.isAbsent), Gauge);
  const restarts = ({ watches }: WatchedKind) => Math.max(0, watches - 1);
  each('everwarm_watch_restarts_total', 'Watches opened after the first one.', restarts, Counter);
  const relists = ({ lists }: WatchedKind) => Math.max(0, lists - 1);
  each('everwarm_relists_total', 'Lists after the first one.', relists, Counter);
  new Gauge({
    name: 'everwarm_outbox_size',
    help: 'Pools that a notice waits for, or is on its way about.',
    registers,
    collect() {
      this.set(source.outbox().size);
    },
  });
  new Counter({
    name: 'everwarm_notices_coalesced_total',
    help: 'Changes that shared the notice of another one.',
    registers,
    collect() {
      this.reset();
      this.inc(source.outbox().coalesced);
    },
  });
}

/** Told of what becomes of the notices. */
export interface SendingMetrics {
  sent(): void;
  retried(): void;
  /** How far our clock is ahead of the door's. */
  skew(ms: number): void;
}

/** Adds the numbers of a forwarder that sends to a door elsewhere. */
export function addSendingMetrics({ registry, Counter, Gauge }: Prometheus): SendingMetrics {
  const registers = [registry];
  const sent = new Counter({
    name: 'everwarm_notices_sent_total',
    help: 'Notices that the door took.',
    registers,
  });
  const retried = new Counter({
    name: 'everwarm_notice_retries_total',
    help: 'Tries that failed and were followed by another one, signs of life included.',
    registers,
  });
  const skew = new Gauge({
    name: 'everwarm_clock_skew_seconds',
    help: "How far this clock is ahead of the door's; beyond 60 s ahead or 300 s behind, notices are refused.",
    registers,
  });
  return {
    sent: () => sent.inc(),
    retried: () => retried.inc(),
    skew: (ms) => skew.set(ms / 1_000),
  };
}

/** Told of passes, resyncs, pools and outcomes. Pools that a look at their namespace did not see are forgotten. */
export interface LoopMetrics extends LoopObserver {
  outcome(event: OutcomeEvent): void;
}

const PHASES = [
  'desired',
  'ready',
  'current',
  'stale',
  'claimed',
  'claimedStale',
  'failed',
  'blocked',
] as const;

const CONDITIONS = ['Ready', 'Current', 'Progressing', 'Degraded', 'Leaving'] as const;

interface PoolLabels {
  readonly platform: string;
  readonly namespace: string;
  readonly pool: string;
}

/** Adds the numbers of the whole loop: pools as the last resync saw them, passes, actions. */
export function addLoopMetrics({ registry, Counter, Gauge }: Prometheus, now: () => number): LoopMetrics {
  const registers = [registry];
  const pool = ['platform', 'namespace', 'pool'] as const;
  const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Gauge<L>({ name, help, registers, labelNames: [...labelNames] });
  const counter = <L extends string>(name: string, help: string, labelNames: readonly L[]) =>
    new Counter<L>({ name, help, registers, labelNames: [...labelNames] });
  const instances = gauge('everwarm_pool_instances', 'Instances of a pool by phase.', [...pool, 'phase']);
  const stale = gauge(
    'everwarm_pool_stale_seconds',
    'How long not all unclaimed instances have been current.',
    pool,
  );
  const condition = gauge('everwarm_pool_condition', '1 while the condition is True.', [...pool, 'type']);
  const seenAt = gauge('everwarm_pool_seen_timestamp_seconds', 'When a resync last saw the pool.', pool);
  const passes = counter('everwarm_passes_total', 'Passes by how they ended.', ['result']);
  const resyncs = counter('everwarm_resyncs_total', 'Looks at a whole namespace.', ['result']);
  const actions = counter('everwarm_actions_total', 'Actions by kind.', ['action', 'result']);
  const guards = counter('everwarm_guard_tripped_total', 'Requests that were stopped by a rule.', ['rule']);
  const known = new Map<string, { readonly labels: PoolLabels; isFresh: boolean }>();
  const forget = (labels: PoolLabels): void => {
    for (const phase of PHASES) instances.remove({ ...labels, phase });
    for (const type of CONDITIONS) condition.remove({ ...labels, type });
    stale.remove(labels);
    seenAt.remove(labels);
  };
  return {
    outcome(event) {
      if (event.type === 'ActionDone') actions.inc({ action: event.action.kind, result: 'done' });
      if (event.type === 'ActionFailed') actions.inc({ action: event.action.kind, result: event.kind });
      if (event.type === 'GuardTripped') guards.inc({ rule: event.rule });
    },
    pass: (result) => passes.inc({ result }),
    resync(namespace, result) {
      resyncs.inc({ result });
      if (result === 'failed') return;
      for (const [id, entry] of known) {
        if (entry.labels.namespace !== namespace) continue;
        if (!entry.isFresh) {
          forget(entry.labels);
          known.delete(id);
        }
        entry.isFresh = false;
      }
    },
    seen({ platform, namespace, name }, staleSeconds, { counts, conditions }) {
      const labels = { platform, namespace, pool: name };
      known.set(`${platform}/${namespace}/${name}`, { labels, isFresh: true });
      for (const phase of PHASES) instances.set({ ...labels, phase }, counts[phase]);
      for (const { type, status } of conditions)
        condition.set({ ...labels, type }, Number(status === 'True'));
      stale.set(labels, staleSeconds);
      seenAt.set(labels, now() / 1_000);
    },
  };
}
