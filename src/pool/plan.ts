import { type Care, careFor } from './_care.ts';
import { begin, type Draft, inOrder } from './_draft.ts';
import { moveOf } from './_moves.ts';
import { letAllGo } from './_pins.ts';
import { nextLook } from './ledger.ts';
import { isOurs, type StatusInput, statusOf } from './status.ts';
import {
  type Action,
  type ActionKind,
  type Desired,
  type Held,
  type Observed,
  type Plan,
  type Policy,
  type Problem,
  WHOLE_POOL,
} from './types.ts';
import { isHeld, nextDue, reviewWaiting } from './waiting.ts';

/** By harm to users: who has an instance, who finds none, who would find an old one. */
const ORDER: readonly ActionKind[] = [
  'discard',
  'heal',
  'unhold',
  'unpin',
  'return',
  'build',
  'nudge',
  'prompt',
  'touch',
  'withdraw',
  'empty',
  'relabel',
  'pin',
  'remove',
];

/**
 * What to do now about one pool. Pure, synchronous and total; deterministic: the highest rank goes first.
 * The status in the plan holds the ledger that licenses its actions: write it before acting (P8).
 */
export function planPool(desired: Desired, observed: Observed, policy: Policy, now: number): Plan {
  const problem = problemOf(desired, observed);
  const waiting = observed.unreadable
    ? observed.memory.waiting
    : reviewWaiting(desired, observed, policy, now);
  const leaving = isLeaving(observed, policy);
  const settling = waiting.some((entry) => entry.cause === 'settling');
  const refused = new Set(waiting.filter((entry) => isHeld(entry, now)).map(({ slot }) => slot));
  const discards = observed.leftovers
    .filter((name) => !refused.has(name))
    .map((name): Action => ({ kind: 'discard', name }));

  const input = { desired, observed, policy, now, waiting, ledger: observed.memory.ledger, problem, leaving };
  const care = careFor({ observed, waiting, leaving, settling, now });
  if (problem !== undefined || desired.revision === undefined || settling) {
    const kept = letAllGo(input);
    const held = settling ? [{ slot: WHOLE_POOL, reason: 'settling', ...kept.later }] : [];
    const standing = statusOf(input);
    const actions = [...discards, ...care.actions, ...kept.actions];
    const { acts, announced } = inTwoRounds(observed, actions, standing.changed);
    return finish({ actions: acts, held: [...held, ...care.held, ...announced], leaving }, standing, now);
  }

  const wanted = { ...desired, revision: desired.revision };
  return work(begin({ ...input, desired: wanted }), input, discards, care);
}

/** The plan for a pool that can be worked on. */
function work(
  { draft, touches }: ReturnType<typeof begin>,
  input: StatusInput,
  discards: readonly Action[],
  care: Care,
): Plan {
  const { now, leaving } = input;
  const moves = inOrder(draft).map((instance) => moveOf(draft, instance));
  const held = moves.filter((move) => move !== undefined && 'reason' in move && !('kind' in move)) as Held[];
  const actions = moves.filter((move) => move !== undefined && 'kind' in move) as Action[];

  const ledger = [...draft.ledger.values()].sort((a, b) => (a.slot < b.slot ? -1 : 1));
  const waits = [...draft.waiting.values()];
  const standing = statusOf({ ...input, observed: foreseen(draft), waiting: waits, ledger });
  const inTurn = [...discards, ...care.actions, ...touches, ...actions].sort(
    (a, b) => turn(draft, a) - turn(draft, b),
  );
  const { acts, announced } = inTwoRounds(draft.observed, inTurn, standing.changed, draft.picks);
  return finish({ actions: acts, held: [...held, ...care.held, ...announced], leaving }, standing, now);
}

/**
 * Writes on what the platform hands out next, for another round: after the status write the reading of the claims would be
 * too old for them.
 */
function inTwoRounds(
  { operator, instances }: Observed,
  actions: readonly Action[],
  statusFirst: boolean,
  picks: ReadonlySet<string> = new Set(),
): { readonly acts: readonly Action[]; readonly announced: readonly Held[] } {
  const claimable = new Set(instances.filter((i) => i.claimable).map(({ slot }) => slot));
  const isOnPick = (action: Action) =>
    action.kind === 'touch' ||
    picks.has(slotOf(action)) ||
    (action.kind === 'heal' && claimable.has(action.slot));
  const waits = (action: Action) => statusFirst && operator.alive && isOnPick(action);
  return {
    acts: actions.filter((action) => !waits(action)),
    announced: actions.filter(waits).map((action) => ({ slot: slotOf(action), reason: 'announced' })),
  };
}

function slotOf(action: Action): string {
  return action.kind === 'discard' ? WHOLE_POOL : action.slot;
}

/** The world once this plan's withdrawals are done: the status that licenses them tells of them too, in one write. */
function foreseen({ observed, chosen, desired }: Draft): Observed {
  const withdrawn = { building: desired.revision, pass: observed.pass.token };
  return {
    ...observed,
    instances: observed.instances.map((i) => (chosen.has(i.slot) ? { ...i, withdrawn } : i)),
  };
}

/** The next pick first: the claims were read a moment ago, and every request in between makes that older. */
function turn(draft: Draft, action: Action): number {
  if (draft.picks.has(slotOf(action))) return -1;
  const isSurplus = action.kind === 'withdraw' && action.reason === 'surplus';
  return isSurplus ? ORDER.length : ORDER.indexOf(action.kind);
}

/** Nothing is left to do, to write or to wait for. */
export function isEmpty(plan: Plan): boolean {
  return plan.actions.length === 0 && !plan.changed;
}

/** In `observe` only what is begun is finished (P21); then nothing is written any more. */
function isLeaving(observed: Observed, policy: Policy): boolean {
  if (policy.mode !== 'observe') return false;
  const begun = observed.instances.some(isOurs);
  const said = observed.memory.conditions.some((c) => c.type === 'Leaving' && c.status === 'True');
  return begun || said || observed.memory.ledger.length > 0;
}

/** An instance that is stale right after its creation would be replaced for ever: hold the pool and name the paths. */
function problemOf(desired: Desired, observed: Observed): Problem | undefined {
  if (desired.problem !== undefined) return desired.problem;
  const unstable = observed.instances.find((i) => i.unstable && i.claimedBy === undefined);
  if (unstable === undefined) return undefined;
  const message = `slot ${unstable.slot} differs right after its creation: ${unstable.drift.join(', ')}`;
  return { reason: 'UnstableRendering', message };
}

function finish(
  moves: { leaving: boolean; actions: readonly Action[]; held: readonly Held[] },
  { status, changed }: { status: Plan['status']; changed: boolean },
  now: number,
): Plan {
  const times = [
    ...moves.held.map(({ until }) => until),
    nextDue(status.waiting, now),
    nextLook(status.ledger, now),
  ].filter((at) => at !== undefined);
  return {
    actions: moves.actions,
    status,
    changed,
    leaving: moves.leaving,
    held: moves.held,
    ...(times.length === 0 ? {} : { nextCheckAt: Math.min(...times) }),
  };
}
