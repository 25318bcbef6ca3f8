import type { Failure, KubeApi, Outcome } from '../kube/api.ts';
import type { Observation, Request } from '../platform/platform.ts';
import { formatKey } from '../pool/key.ts';
import type { Action, Plan, Refusal } from '../pool/types.ts';
import { WHOLE_POOL } from '../pool/types.ts';
import { brokenRule } from './guard.ts';
import type { Report } from './outcome.ts';

/** What carrying out a plan came to. `again`: something moved, look again; `stop`: look again later. */
export interface ActResult {
  readonly next: 'rest' | 'again' | 'conflict' | 'stop';
  /** Something was withdrawn: wait before anything behind the fence is destroyed. */
  readonly withdrew: boolean;
  readonly refusals: readonly Refusal[];
  /** The actions of which every request was carried out. */
  readonly done: readonly Action[];
  readonly retryAfterMs?: number;
}

export interface ActInput {
  readonly api: KubeApi;
  readonly observation: Observation;
  readonly plan: Plan;
  readonly pass: string;
  readonly report: Report;
  /** True while there is time for one more request. */
  readonly hasTime: () => boolean;
}

/** Actions after which the pool is worth another look at once. The others wait for the world. */
const MOVES_ON: ReadonlySet<string> = new Set([
  'heal',
  'unhold',
  'pin',
  'unpin',
  'withdraw',
  'prompt',
  'return',
  'touch',
  'remove',
]);

/**
 * What is done for several slots side by side: each works on objects of its own, in a slot that nobody is handed. Over a network a
 * pool of two hundred would otherwise be filled one answer after the other.
 */
const SIDE_BY_SIDE: ReadonlySet<string> = new Set(['return', 'build', 'empty', 'remove']);
const AT_ONCE = 8;

/**
 * Carries out a plan in its order, the guarded requests of one action one after the other. A refused create ends the creates of
 * this pass, not the others.
 */
export async function act(input: ActInput): Promise<ActResult> {
  const refusals: Refusal[] = [];
  const done: Action[] = [];
  let conflict = false;
  const result = (next: ActResult['next']): ActResult => {
    return { next, withdrew: done.some(isWithdrawal), refusals, done };
  };
  for (const actions of inTurn(input.plan.actions)) {
    if (actions[0]?.kind === 'build' && refusals.some(({ slot }) => slot === WHOLE_POOL)) continue;
    const steps = await carryOutAll(input, actions);
    done.push(...steps.flatMap(([action, { kind }]) => (kind === 'done' ? [action] : [])));
    refusals.push(...steps.flatMap(([, step]) => (step.kind === 'refused' ? [step.refusal] : [])));
    conflict ||= steps.some(([, { kind }]) => kind === 'conflict');
    const stopped = steps.map(([, step]) => step).find(({ kind }) => kind === 'stopped');
    if (stopped?.kind === 'stopped') return { ...result('stop'), ...retryAfter(stopped.failure) };
  }
  if (conflict) return result('conflict');
  const moved = done.some(({ kind }) => MOVES_ON.has(kind));
  return result(moved || refusals.length > 0 ? 'again' : 'rest');
}

type Step =
  | { readonly kind: 'done' | 'conflict' }
  | { readonly kind: 'refused'; readonly refusal: Refusal }
  /** `unknown`, `throttled` or out of time: the pass ends, for the write may or may not have happened. */
  | { readonly kind: 'stopped'; readonly failure: Failure | undefined };

/**
 * The plan in its order: neighbours that go side by side together, every other action by itself. The first create goes alone: where
 * it is refused the next would be refused for the same reason.
 */
function inTurn(actions: readonly Action[]): readonly (readonly Action[])[] {
  const groups: Action[][] = [];
  const first = actions.find(({ kind }) => kind === 'build');
  for (const action of actions) {
    const latest = groups.at(-1);
    const joins = latest?.[0]?.kind === action.kind && SIDE_BY_SIDE.has(action.kind) && latest[0] !== first;
    if (joins) latest?.push(action);
    else groups.push([action]);
  }
  return groups;
}

/** What came of each that was begun, in the order of the plan. After a refused create, or a stop, nothing more is begun. */
async function carryOutAll(
  input: ActInput,
  actions: readonly Action[],
): Promise<readonly (readonly [Action, Step])[]> {
  const steps = new Map<Action, Step>();
  const waiting = actions.values();
  let isOver = false;
  const lane = async () => {
    for (const action of waiting) {
      const step = await carryOut(input, action);
      steps.set(action, step);
      isOver ||= step.kind === 'stopped' || (step.kind === 'refused' && step.refusal.slot === WHOLE_POOL);
      if (isOver) return;
    }
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, actions.length) }, lane));
  return actions.flatMap((action) => {
    const step = steps.get(action);
    return step === undefined ? [] : [[action, step] as const];
  });
}

async function carryOut(
  { api, observation, pass, report, hasTime }: ActInput,
  action: Action,
): Promise<Step> {
  const pool = formatKey(observation.key);
  for (const request of observation.requestsFor(action, pass)) {
    if (!hasTime()) return { kind: 'stopped', failure: undefined };
    const rule = brokenRule(request, action, observation);
    if (rule !== undefined) {
      report({ type: 'GuardTripped', pool, rule, slot: 'slot' in action ? action.slot : WHOLE_POOL });
      return { kind: 'stopped', failure: undefined };
    }
    const failure = await send(api, request);
    if (failure === undefined) continue;
    report({ type: 'ActionFailed', pool, action, kind: failure.kind, message: failure.message });
    return verdict(failure, action);
  }
  report({ type: 'ActionDone', pool, action });
  return { kind: 'done' };
}

function verdict(failure: Failure, action: Action): Step {
  switch (failure.kind) {
    case 'conflict':
    case 'exists':
    case 'notFound':
    case 'expired':
      return { kind: 'conflict' };
    case 'invalid':
    case 'forbidden':
      return { kind: 'refused', refusal: refusalOf(failure, action) };
    default:
      return { kind: 'stopped', failure };
  }
}

/** Behind it something is about to be written: a claim that is under way must show first. */
function isWithdrawal(action: Action): boolean {
  if (action.kind === 'prompt') return action.takes;
  return action.kind === 'withdraw' || (action.kind === 'pin' && action.step === 'anchor');
}

/** What rests after a refusal: all creates of the pool, or the one object or slot. */
function refusedPlace(action: Action): string {
  switch (action.kind) {
    case 'build':
      return WHOLE_POOL;
    case 'discard':
      return action.name;
    case 'heal':
      return action.object;
    default:
      return action.slot;
  }
}

function refusalOf(failure: Failure, action: Action): Refusal {
  const slot = refusedPlace(action);
  const { kind, message } = failure;
  if (kind === 'invalid') return { slot, cause: 'invalid', message };
  if (message.includes('exceeded quota')) return { slot, cause: 'quota', message };
  return { slot, cause: /denied (the )?request/.test(message) ? 'admission' : 'forbidden', message };
}

/** Sends one request. `undefined` means it is done, also when what should go is gone already. */
export async function send(api: KubeApi, request: Request): Promise<Failure | undefined> {
  switch (request.verb) {
    case 'create':
      return failureOf(await api.create(request.resource, request.namespace, request.body));
    case 'delete': {
      const { uid, resourceVersion, propagation } = request;
      const preconditions = { uid, ...(resourceVersion === undefined ? {} : { resourceVersion }) };
      const outcome = await api.delete(request.resource, request, { preconditions, propagation });
      return outcome.kind === 'notFound' ? undefined : failureOf(outcome);
    }
    case 'patch': {
      const place = placeOf(request);
      const outcome = await api.patch(request.resource, place, { type: 'json', patch: request.patch });
      return outcome.kind === 'invalid' ? sortOut(api, request, outcome) : failureOf(outcome);
    }
  }
}

/** A failed `test` and a refused value are both 422: only another resourceVersion makes it a conflict (P4). */
async function sortOut(
  api: KubeApi,
  request: Extract<Request, { verb: 'patch' }>,
  invalid: Failure,
): Promise<Failure> {
  const { namespace, name } = request;
  const now = await api.get(request.resource, { namespace, name });
  if (now.kind !== 'ok') return now;
  const same = now.value.metadata.resourceVersion === request.resourceVersion;
  return same
    ? invalid
    : { kind: 'conflict', message: `${request.resource.plural}/${name} was written since it was read` };
}

function placeOf({ namespace, name, subresource }: Extract<Request, { verb: 'patch' }>) {
  return { namespace, name, ...(subresource === undefined ? {} : { subresource }) };
}

function failureOf(outcome: Outcome<unknown>): Failure | undefined {
  return outcome.kind === 'ok' ? undefined : outcome;
}

function retryAfter(failure: Failure | undefined): { retryAfterMs?: number } {
  return failure?.kind === 'throttled' ? { retryAfterMs: failure.retryAfterMs } : {};
}
