import { type Random, seededRandom } from '../clock.ts';
import type { Outcome } from '../kube/api.ts';
import type { Violation } from '../pool/invariants.ts';
import { type Closing, close } from './_closing.ts';
import { HAPPENING_NAMES, happen, liftAll, type Scene } from './_happenings.ts';
import { beginPass, type PassDeps, type RunningPass } from './_passes.ts';
import { build, type Parts, START_MS } from './_scene.ts';
import { drawSwarm, type FaultKind, type StepKind, type Swarm, weighted } from './_swarm.ts';
import { advance, nextAt } from './_time.ts';
import type { VirtualClock } from './virtual-clock.ts';
import type { Watcher } from './watcher.ts';

export interface ScheduleOptions {
  readonly seed: number;
  /** How many steps are taken before the end is called: requests, lapses of time, happenings. */
  readonly steps: number;
  /** Turns that do nothing, by number: what a shorter trace leaves out. A turn is one choice and takes a few steps. */
  readonly skip?: ReadonlySet<number>;
  /** No turn is taken after so many. */
  readonly turns?: number;
  /** What is not left to chance. */
  readonly weather?: Partial<Swarm>;
  /** Keeps what happened in words (default false: only its hash). */
  readonly traced?: boolean;
}

export interface Outcomes {
  readonly seed: number;
  /** Steps that were taken, the closing ones included. */
  readonly steps: number;
  readonly violations: readonly Violation[];
  /** The same for the same seed and code, on every machine. */
  readonly hash: string;
  readonly trace: readonly TraceLine[];
  /** Turns that were taken until the first violation showed, or until the end was called. */
  readonly turns: number;
  /** Passes that it took after the last fault until nothing was left to do. */
  readonly rounds: number;
}

export interface TraceLine {
  readonly turn: number;
  readonly at: number;
  readonly text: string;
}

const LIVE_MAX = 2;
const FROZEN_MAX = 3;
const BURST_MAX = 16;

/** One random run from a seed: steps of work, time, faults and happenings, then calm weather until everything rests. */
export async function runSchedule(options: ScheduleOptions): Promise<Outcomes> {
  const run = await Run.begin(options);
  const { steps, skip, turns = Number.POSITIVE_INFINITY } = options;
  for (let turn = 0; turn < turns && run.steps < steps && !run.isBroken(); turn += 1) {
    if (skip?.has(turn) !== true) await run.take(turn);
  }
  if (!run.isBroken()) await run.close();
  return run.outcomes();
}

class Run {
  readonly #options: ScheduleOptions;
  readonly #swarm: Swarm;
  readonly #clock: VirtualClock;
  readonly #scene: Scene;
  readonly #watcher: Watcher;
  readonly #deps: PassDeps;
  readonly #pools: readonly string[];
  readonly #live: RunningPass[] = [];
  readonly #frozen: RunningPass[] = [];
  /** Requests whose sender was told nothing and that have not reached the server yet. */
  readonly #late: { readonly name: string; readonly commit: () => void }[] = [];
  readonly #bugs: Violation[] = [];
  readonly #trace: TraceLine[] = [];
  #hash = 0x811c_9dc5;
  #passes = 0;
  #turn = -1;
  #rounds = 0;
  steps = 0;

  private constructor(options: ScheduleOptions, swarm: Swarm, parts: Parts) {
    this.#options = options;
    this.#swarm = swarm;
    this.#clock = parts.clock;
    this.#scene = parts.scene;
    this.#watcher = parts.watcher;
    this.#pools = parts.pools;
    this.#deps = {
      ...parts,
      store: parts.scene.cluster.store,
      random: seededRandom(options.seed ^ 0x1234_5678),
      report: (event) => {
        if (event.type === 'GuardTripped')
          this.#bugs.push({
            name: 'P19',
            message: `${event.rule} was about to be broken on slot ${event.slot}`,
          });
      },
      onBug: (error) => {
        const told = error instanceof Error ? (error.stack ?? error.message) : String(error);
        this.#bugs.push({ name: 'Bug', message: told });
      },
    };
  }

  static async begin(options: ScheduleOptions): Promise<Run> {
    const swarm = drawSwarm(turnRandom(options.seed, -1), HAPPENING_NAMES, options.weather);
    const parts = await build(options.seed, swarm);
    const run = new Run(options, swarm, parts);
    run.#note(
      `begin ${JSON.stringify({ ...swarm, steps: undefined, faults: undefined, events: undefined })}`,
    );
    await run.#prepare();
    return run;
  }

  /** The pool as the operator made it, or none yet; then Everwarm comes. */
  async #prepare(): Promise<void> {
    const { operator, people } = this.#scene;
    const spec = { minInstances: this.#swarm.slots, image: 'registry.example.org/ide:1' };
    const wants = this.#swarm.adopted || this.#swarm.operatorRuns;
    if (wants) void operator.start();
    if (wants) await this.#advance(1_000);
    for (const pool of this.#pools) people.createPool(pool, spec);
    const { maxUnavailable } = this.#swarm;
    if (maxUnavailable !== undefined)
      for (const pool of this.#pools) people.setPolicy(pool, { maxUnavailable });
    if (this.#swarm.adopted) await this.#advance(16_000);
    if (!this.#swarm.operatorRuns && wants) await operator.stop('kill');
  }

  isBroken(): boolean {
    return this.#bugs.length > 0 || this.#watcher.violations.length > 0;
  }

  async take(turn: number): Promise<void> {
    this.#turn = turn;
    const random = turnRandom(this.#options.seed, turn);
    const kind = weighted(this.#possible(), random);
    if (kind !== 'work') this.steps += 1;
    if (kind !== undefined) await this.#take(kind, random);
  }

  async close(): Promise<void> {
    this.#turn += 1;
    const closing: Closing = {
      scene: this.#scene,
      watcher: this.#watcher,
      pools: this.#pools,
      begin: (pool) => this.#begin(pool, undefined),
      passes: () => [...this.#live, ...this.#frozen],
      advance: (ms) => this.#advance(ms),
      note: (text) => this.#note(text),
      isBroken: () => this.isBroken(),
    };
    for (const { commit } of this.#late.splice(0)) commit();
    liftAll(this.#scene, this.#pools, this.#swarm.keepsLimits);
    const { rounds, violations, steps } = await close(closing, turnRandom(this.#options.seed, -2));
    this.#bugs.push(...violations);
    this.#rounds = rounds;
    this.steps += steps;
  }

  outcomes(): Outcomes {
    return {
      seed: this.#options.seed,
      steps: this.steps,
      violations: [...this.#watcher.violations, ...this.#bugs],
      hash: (this.#hash >>> 0).toString(16).padStart(8, '0'),
      trace: this.#trace,
      rounds: this.#rounds,
      turns: this.#turn + 1,
    };
  }

  #possible(): Readonly<Record<StepKind, number>> {
    const { steps } = this.#swarm;
    const waiting = this.#live.some(({ pending }) => pending !== undefined) || this.#late.length > 0;
    return {
      ...steps,
      begin: this.#live.length < LIVE_MAX ? steps.begin : 0,
      work: waiting ? steps.work : 0,
      freeze: waiting && this.#frozen.length < FROZEN_MAX ? steps.freeze : 0,
      thaw: this.#frozen.length > 0 && this.#live.length < LIVE_MAX + 1 ? steps.thaw : 0,
    };
  }

  async #take(kind: StepKind, random: Random): Promise<void> {
    switch (kind) {
      case 'begin': {
        const pool = this.#pools[Math.floor(random() * this.#pools.length)] ?? '';
        this.#begin(pool, random() < 0.1 ? 5_000 + random() * 20_000 : undefined);
        return this.#clock.settle();
      }
      case 'work':
        return this.#work(random);
      case 'time':
        return this.#pass(random);
      case 'event': {
        const name = weighted(this.#swarm.events, random) ?? '';
        const pool = this.#pools[Math.floor(random() * this.#pools.length)] ?? '';
        const told = happen(name, this.#scene, pool, random);
        if (told !== undefined) this.#note(told);
        return this.#clock.settle();
      }
      case 'freeze': {
        // Who sleeps before a write is the more dangerous.
        const writes = random() < 0.8;
        const at = this.#live.findIndex(
          ({ pending }) => pending !== undefined && (pending.isWrite || !writes),
        );
        for (const pass of at < 0 ? [] : this.#live.splice(at, 1)) {
          this.#note(`${pass.name} is frozen before ${pass.pending?.name}`);
          this.#frozen.push(pass);
        }
        return;
      }
      case 'thaw': {
        const at = Math.floor(random() * this.#frozen.length);
        for (const pass of this.#frozen.splice(at, 1)) {
          this.#note(`${pass.name} is thawed`);
          this.#live.push(pass);
        }
      }
    }
  }

  #begin(pool: string, deadlineMs: number | undefined): RunningPass {
    this.#passes += 1;
    const pass = beginPass(this.#deps, pool, `pass-${this.#passes}`, deadlineMs);
    this.#note(`${pass.name} begins on ${pool}`);
    this.#live.push(pass);
    return pass;
  }

  /** A few requests of one pass go through, one after the other; each may meet with a fault. */
  async #work(random: Random): Promise<void> {
    if (this.#late.length > 0 && random() < 0.2) {
      this.steps += 1;
      const [late] = this.#late.splice(Math.floor(random() * this.#late.length), 1);
      this.#note(`at last: ${late?.name}`);
      late?.commit();
      return this.#clock.settle();
    }
    const ready = this.#live.filter(({ pending }) => pending !== undefined);
    const pass = ready[Math.floor(random() * ready.length)];
    const burst = random() < 0.6 ? 1 + Math.floor(random() * 3) : 1 + Math.floor(random() * BURST_MAX);
    for (let at = 0; at < burst && pass?.pending !== undefined && !this.isBroken(); at += 1) {
      await this.#goOn(pass, random);
      // Between the look and the write is where the others matter most.
      if (pass.pending?.isWrite === true && random() < 0.2) break;
    }
    this.#forgetOver();
  }

  async #goOn(pass: RunningPass, random: Random): Promise<void> {
    const call = pass.take();
    if (call === undefined) return;
    this.steps += 1;
    const fault = drawFault(this.#swarm.faults, call.isWrite, random);
    this.#note(`${pass.name} ${call.name}${fault === undefined ? '' : ` (${fault})`}`);
    const name = `${pass.name} ${call.name}`;
    switch (fault) {
      case undefined:
        call.commit();
        call.answer();
        break;
      case 'killBefore':
        pass.kill();
        break;
      case 'killAfter':
        call.commit();
        pass.kill();
        break;
      case 'lostAnswer':
        call.commit();
        call.answer(UNKNOWN);
        break;
      case 'lostRequest':
        call.answer(UNKNOWN);
        break;
      case 'late':
        this.#late.push({ name, commit: call.commit });
        call.answer(UNKNOWN);
        break;
      case 'throttled':
        call.answer({ kind: 'throttled', message: 'slow down', retryAfterMs: 1_000 });
        break;
    }
    await this.#clock.settle();
  }

  #forgetOver(): void {
    for (let at = this.#live.length - 1; at >= 0; at -= 1) {
      if (this.#live[at]?.isOver === true) this.#live.splice(at, 1);
    }
  }

  /** Time passes: to the next thing that is due, or for a while. */
  async #pass(random: Random): Promise<void> {
    const ways = [0, 5, 60, 600, 2_100, 2_100, 16_000, 16_000];
    const ms = ways[Math.floor(random() * ways.length)] ?? 0;
    const next = nextAt(this.#scene);
    await this.#advance(ms === 0 && next !== undefined ? Math.max(0, next - this.#clock.now()) : ms);
    this.#note(`${ms} ms pass`);
    this.#forgetOver();
  }

  async #advance(ms: number): Promise<void> {
    await advance(this.#scene, ms);
  }

  #note(text: string): void {
    for (let at = 0; at < text.length; at += 1) {
      this.#hash = Math.imul(this.#hash ^ text.charCodeAt(at), 0x0100_0193);
    }
    this.#hash = Math.imul(this.#hash ^ this.#scene.cluster.store.revision(), 0x0100_0193);
    if (this.#options.traced === true)
      this.#trace.push({ turn: this.#turn, at: this.#clock.now() - START_MS, text });
  }
}

const UNKNOWN: Outcome<never> = { kind: 'unknown', message: 'the connection was reset' };

/** Each turn has its own chance, so that leaving one out changes as little as possible in the others. */
function turnRandom(seed: number, turn: number): Random {
  return seededRandom(Math.imul(seed + 1, 0x9e37_79b1) ^ Math.imul(turn + 7, 0x85eb_ca6b));
}

function drawFault(
  faults: Readonly<Record<FaultKind, number>>,
  isWrite: boolean,
  random: Random,
): FaultKind | undefined {
  const draw = random();
  let reached = 0;
  for (const [fault, rate] of Object.entries(faults) as [FaultKind, number][]) {
    // Reads are ten times as many, and a read that fails only ends its pass.
    reached += isWrite ? rate : rate / 10;
    if (draw < reached) return isWrite || fault !== 'late' ? fault : 'lostRequest';
  }
  return undefined;
}
