import { isServing, maxUnavailable } from '../../src/pool/budget.ts';
import { isEmpty } from '../../src/pool/plan.ts';
import type { Action, Instance, Memory, Need, Phase, Plan, Refusal, Trouble } from '../../src/pool/types.ts';
import { instance, NOW, planOf, pool, refusal, SECOND, type World } from './_world.ts';

/** What runs an instance: a Deployment and its one pod. */
interface Workload {
  readonly uid: string;
  readonly revision: string;
  /** When its pod is ready, if nothing is wrong with it. */
  readyAt: number;
  /** When a deletion that is under way is over. */
  goneAt?: number;
  isUsed: boolean;
  failure?: 'crash' | 'quota';
}

interface Place {
  /** Counts every write on any of its objects: what a guarded request compares. */
  version: number;
  anchor?: {
    readonly uid: string;
    pass?: string;
    withdrawn?: { readonly building: string; readonly pass: string };
  };
  /** Its other parts, all of them or none. */
  base: boolean;
  workload?: Workload;
  claimedBy?: string;
}

/** Where a pass dies, and what happens between its status write and its first request. */
export interface Fate {
  readonly diesAfter?: number;
  readonly meanwhile?: (cluster: Model) => void;
}

const READY_MS = 10 * SECOND;
const GONE_MS = 5 * SECOND;
const ROUNDS_MAX = 12;
const EMPTY: Place = { version: 0, base: false };

type Outcome = 'done' | 'conflict' | 'refused';

/** A cluster in a nutshell: pure state that obeys plans as the API server would, guards included. */
export class Model {
  now = NOW;
  replicas: number;
  revision = 'v1';
  sourceCounter = 1;
  maxUnavailable: number | string = '25%';
  mode: 'guard' | 'observe' = 'guard';
  paused = false;
  quiet = true;
  operator: { readonly startedAt: number } | undefined;
  /** `pods`: no new pod is admitted; `objects`: no new object at all. */
  quota: 'none' | 'pods' | 'objects' = 'none';
  /** How many pods the nodes hold. */
  roomFor = Number.POSITIVE_INFINITY;
  /** Revisions whose image cannot be pulled. */
  readonly typos = new Set<string>();
  /** Revisions that ask for more than any node has. */
  readonly misfits = new Set<string>();
  /** How often the next workloads of a slot will crash. */
  readonly crashes = new Map<number, number>();
  memory: Memory = { ledger: [], waiting: [], conditions: [] };
  /** Rules that were broken, in words. */
  readonly violations: string[] = [];
  private readonly places = new Map<number, Place>();
  /** Slots whose serving instance we took away and did not give back yet. */
  private readonly disrupted = new Set<number>();
  private made = 0;
  private passes = 0;

  constructor(replicas: number) {
    this.replicas = replicas;
    for (let slot = 1; slot <= replicas; slot += 1) {
      const anchor = { uid: this.uid('anchor') };
      this.places.set(slot, { version: 1, anchor, base: true, workload: this.workload(slot) });
    }
    this.advance(READY_MS);
  }

  // The world: users, people and time.

  /** As the operator does: the lowest that can be handed out. */
  claim(user: string): void {
    const found = this.instances.find((one) => one.claimable);
    if (found !== undefined)
      this.change(Number(found.slot), (place) => Object.assign(place, { claimedBy: user }));
  }

  release(nth: number): void {
    const claimed = [...this.places].filter(([, { claimedBy }]) => claimedBy !== undefined);
    const [slot] = claimed[nth % claimed.length] ?? [];
    if (slot === undefined) return;
    this.change(slot, (place) => {
      delete place.claimedBy;
      if (place.workload !== undefined) place.workload.isUsed = true;
    });
  }

  ship(revision: string, typo = false): void {
    this.revision = revision;
    this.sourceCounter += 1;
    if (typo) this.typos.add(revision);
  }

  scale(replicas: number): void {
    this.replicas = replicas;
    this.sourceCounter += 1;
  }

  /** A person deletes the Deployment or the anchor of an unclaimed slot, or its pod begins to crash. */
  harm(slot: number, what: 'workload' | 'anchor' | 'crash'): void {
    const place = this.places.get(slot);
    if (place === undefined || place.claimedBy !== undefined) return;
    this.change(slot, () => {
      if (what === 'workload') delete place.workload;
      else if (what === 'anchor') delete place.anchor;
      else if (place.workload !== undefined) place.workload.failure = 'crash';
    });
    this.disrupted.delete(slot);
  }

  advance(ms: number): void {
    this.now += ms;
    for (const [slot, place] of this.places) {
      if ((place.workload?.goneAt ?? Number.POSITIVE_INFINITY) <= this.now) delete place.workload;
      if (!place.base && place.anchor === undefined && place.workload === undefined) this.places.delete(slot);
    }
  }

  /** Something is starting or going: time alone will change it. */
  get isMoving(): boolean {
    return this.instances.some(
      (one) => one.terminating || (one.phase === 'pending' && !one.absent && one.trouble === undefined),
    );
  }

  // Our side: one pass after another.

  look(token = 'look', refusals: readonly Refusal[] = []): World {
    const its = {
      replicas: this.replicas,
      revision: this.revision,
      sourceCounter: this.sourceCounter,
      maxUnavailable: this.maxUnavailable,
      mode: this.mode,
      paused: this.paused,
      quiet: this.quiet,
      quotas: this.quota,
      memory: this.memory,
      pass: token,
      refusals,
      now: this.now,
    };
    return pool(this.instances, this.operator === undefined ? its : { ...its, operator: this.operator });
  }

  /** As `reconcile` does it: observe, plan, write the status, act, and look again while something moved. */
  pass({ diesAfter = Number.POSITIVE_INFINITY, meanwhile }: Fate = {}): Plan {
    this.passes += 1;
    const token = `pass-${this.passes}`;
    let refusals: readonly Refusal[] = [];
    let stepsLeft = diesAfter;
    for (let round = 1; round <= ROUNDS_MAX; round += 1) {
      const plan = planOf(this.look(token, refusals));
      if (isEmpty(plan) || (this.mode === 'observe' && !plan.leaving)) return plan;
      if (plan.changed) this.memory = plan.status;
      const versions = new Map([...this.places].map(([slot, { version }]) => [slot, version]));
      if (round === 1) meanwhile?.(this);
      const outcomes = plan.actions.slice(0, stepsLeft).map((action) => this.act(action, token, versions));
      stepsLeft -= plan.actions.length;
      if (stepsLeft < 0 || isDone(plan, outcomes)) return plan;
      refusals = outcomes.filter((outcome) => outcome === 'refused').map(() => refusal('quota'));
    }
    this.violations.push(`${token} does not come to an end`);
    return planOf(this.look());
  }

  /** Passes and time, until there is nothing to do, to wait for or to come. */
  settle(): Plan {
    for (let turn = 0; turn < 2_000; turn += 1) {
      const { nextCheckAt } = this.pass();
      const rest = planOf(this.look());
      if (isEmpty(rest) && !this.isMoving && nextCheckAt === undefined) return rest;
      const due = nextCheckAt === undefined || this.isMoving ? GONE_MS : nextCheckAt - this.now;
      this.advance(Math.max(SECOND, due));
    }
    return planOf(this.look());
  }

  private act(action: Action, pass: string, versions: ReadonlyMap<number, number>): Outcome {
    if (action.kind === 'discard') return 'done';
    const slot = Number(action.slot);
    if (action.kind === 'build') return this.build(slot, pass);
    const place = this.places.get(slot);
    if (place === undefined || place.version !== versions.get(slot)) return 'conflict';
    this.check(action, slot, place);
    this.change(slot, () => this.carryOut(action, slot, place, pass));
    return 'done';
  }

  private carryOut(
    action: Exclude<Action, { kind: 'discard' | 'build' }>,
    slot: number,
    place: Place,
    pass: string,
  ): void {
    const { workload } = place;
    switch (action.kind) {
      case 'touch':
        if (place.anchor !== undefined) place.anchor.pass = action.pass;
        break;
      case 'withdraw':
        place.anchor = {
          uid: place.anchor?.uid ?? this.uid('anchor'),
          pass,
          withdrawn: { building: action.building, pass },
        };
        break;
      case 'remove':
        delete place.anchor;
        place.base = false;
        if (workload !== undefined) workload.goneAt ??= this.now + GONE_MS;
        break;
      case 'empty':
        if (workload !== undefined) workload.goneAt ??= this.now + GONE_MS;
        break;
      case 'return':
        delete place.anchor?.withdrawn;
        this.disrupted.delete(slot);
        break;
      case 'heal':
        if (place.anchor !== undefined) place.anchor.withdrawn = { building: this.revision, pass };
        break;
      case 'unhold':
        delete place.anchor?.withdrawn;
        break;
      case 'nudge':
        if (workload?.failure === 'quota' && this.quota !== 'pods') {
          delete workload.failure;
          workload.readyAt = this.now + READY_MS;
        }
        break;
      default:
    }
  }

  private build(slot: number, pass: string): Outcome {
    if (this.quota === 'objects') return 'refused';
    const place = this.places.get(slot) ?? { ...EMPTY };
    const isNew = !this.places.has(slot);
    const unclaimed = [...this.places.values()].filter(({ claimedBy }) => claimedBy === undefined).length;
    if (isNew && unclaimed >= this.replicas) this.violations.push(`slot ${slot} is one too many`);
    if (place.workload?.goneAt !== undefined) return 'conflict';
    this.places.set(slot, place);
    this.change(slot, () => {
      place.base = true;
      place.workload ??= this.workload(slot);
      place.anchor ??= { uid: this.uid('anchor'), pass, withdrawn: { building: this.revision, pass } };
    });
    return 'done';
  }

  /** The promises that hold at every single request. */
  private check({ kind }: Action, slot: number, place: Place): void {
    const isCare = kind === 'heal' || kind === 'unhold';
    if ((place.claimedBy !== undefined) !== isCare)
      this.violations.push(`${kind} on slot ${slot}, claimed by ${place.claimedBy}`);
    const isFenced =
      place.anchor?.withdrawn !== undefined || (kind === 'remove' && place.anchor === undefined);
    if ((kind === 'empty' || kind === 'remove') && !isFenced)
      this.violations.push(`${kind} of slot ${slot}, which is not withdrawn`);
    const before = this.instances.find((one) => one.slot === String(slot));
    if (kind !== 'withdraw' || before === undefined || !before.target || !isServing(before)) return;
    this.disrupted.add(slot);
    const wanted = this.instances.filter((one) => one.target && one.claimedBy === undefined);
    const away = wanted.filter((one) => this.disrupted.has(Number(one.slot)) && !waitsForRoom(one));
    const max = maxUnavailable(
      { mode: 'guard', paused: false, maxUnavailable: this.maxUnavailable },
      wanted.length,
    );
    if (away.length > max) this.violations.push(`${away.length} slots are away, ${max} may be`);
  }

  // What the platform would tell of it.

  get instances(): readonly Instance[] {
    const slots = new Set([
      ...Array.from({ length: this.replicas }, (_, at) => at + 1),
      ...this.places.keys(),
    ]);
    const all = [...slots].sort((a, b) => a - b).map((slot) => this.instanceIn(slot));
    return all.filter(({ target, exists }) => target || exists);
  }

  private instanceIn(slot: number): Instance {
    const place = this.places.get(slot) ?? EMPTY;
    const { anchor, base, workload, claimedBy, version } = place;
    const isGoing = workload?.goneAt !== undefined;
    const trouble = workload === undefined || isGoing ? undefined : this.troubleOf(workload);
    const isStale = workload !== undefined && !isGoing && workload.revision !== this.revision;
    const resourceVersion = String(version);
    const { anchor: _anchor, workload: _workload, ...plain } = instance(String(slot));
    return {
      ...plain,
      target: slot <= this.replicas,
      exists: anchor !== undefined || base || workload !== undefined,
      phase: this.phaseOf(place, trouble),
      absent: !base || workload === undefined,
      terminating: isGoing,
      drift: isStale ? ['deployment: image'] : [],
      claimable: base && anchor !== undefined && anchor.withdrawn === undefined && claimedBy === undefined,
      ...(anchor && { anchor: { ...anchor, resourceVersion } }),
      held: claimedBy !== undefined && anchor?.withdrawn !== undefined,
      needs: this.needsOf(slot, place),
      ...(anchor?.withdrawn && claimedBy === undefined && { withdrawn: anchor.withdrawn }),
      ...(workload && { workload: { uid: workload.uid, resourceVersion } }),
      ...(claimedBy && { claimedBy }),
      ...(workload?.isUsed && !isGoing && { dirt: 'used pod' }),
      ...(trouble && { trouble: { cause: trouble, message: trouble } }),
    };
  }

  /** Who holds an instance keeps it to the end: our reference stands on it meanwhile. */
  private needsOf(slot: number, { anchor, claimedBy }: Place): readonly Need[] {
    if (claimedBy === undefined || anchor === undefined || anchor.withdrawn !== undefined) return [];
    return [{ object: `Service/${slot}`, lacks: ['hold'] }];
  }

  private phaseOf({ anchor, base, workload }: Place, trouble: Trouble | undefined): Phase {
    if (anchor === undefined && !base && workload === undefined) return 'missing';
    if (workload?.goneAt !== undefined) return 'deleting';
    const isReady = base && workload !== undefined && trouble === undefined && workload.readyAt <= this.now;
    return isReady ? 'ready' : 'pending';
  }

  private troubleOf(workload: Workload): Trouble | undefined {
    if (workload.failure !== undefined) return workload.failure;
    if (this.typos.has(workload.revision)) return 'imagePull';
    if (this.misfits.has(workload.revision)) return 'unschedulable';
    // First come, first served: who has a place on a node keeps it until it is gone.
    const pods = [...this.places.values()]
      .flatMap(({ workload: one }) => (one === undefined || one.failure === 'quota' ? [] : [one]))
      .sort((a, b) => Number(a.uid.split('-')[1]) - Number(b.uid.split('-')[1]));
    return pods.indexOf(workload) < this.roomFor ? undefined : 'unschedulable';
  }

  private workload(slot: number): Workload {
    const crashes = this.crashes.get(slot) ?? 0;
    if (crashes > 0) this.crashes.set(slot, crashes - 1);
    const failure = this.quota === 'pods' ? 'quota' : crashes > 0 ? 'crash' : undefined;
    return {
      uid: this.uid('workload'),
      revision: this.revision,
      readyAt: this.now + READY_MS,
      isUsed: false,
      ...(failure !== undefined && { failure }),
    };
  }

  private change(slot: number, how: (place: Place) => void): void {
    const place = this.places.get(slot);
    if (place === undefined) return;
    how(place);
    place.version += 1;
  }

  private uid(kind: string): string {
    this.made += 1;
    return `${kind}-${this.made}`;
  }
}

const MOVES_ON: readonly string[] = ['heal', 'unhold', 'withdraw', 'return', 'touch'];

/** Nothing moved: the world has the next word. */
function isDone({ actions, held }: Plan, outcomes: readonly Outcome[]): boolean {
  const moves = actions.some(({ kind }) => MOVES_ON.includes(kind));
  return (
    !moves && outcomes.every((one) => one === 'done') && held.every(({ reason }) => reason !== 'announced')
  );
}

function waitsForRoom({ trouble }: Instance): boolean {
  return trouble?.cause === 'unschedulable' || trouble?.cause === 'quota';
}
