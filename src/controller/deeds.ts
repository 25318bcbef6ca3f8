import { unreachable } from '../errors.ts';
import type { Action, Desired, Instance, Observed, Plan, ReplaceReason } from '../pool/types.ts';
import type { Deed } from './events.ts';

/** What a plan was made from, and the plan. */
interface Basis {
  readonly desired: Desired;
  readonly observed: Pick<Observed, 'instances'>;
  readonly plan: Plan;
}

/** What the actions that were carried out mean to a person. Steps in between are not told. */
export function deedsOf(done: readonly Action[], basis: Basis): readonly Deed[] {
  return done.flatMap((action) => {
    if (action.kind === 'discard')
      return [
        {
          ...deed('Removed', 'left-over', 'left over, and nobody owns it any more'),
          noun: 'object' as const,
          things: [action.name],
        },
      ];
    const instance = basis.observed.instances.find(({ slot }) => slot === action.slot);
    const found = instance === undefined ? undefined : deedOf(action, instance, basis);
    return found === undefined ? [] : [{ ...found, things: [action.slot] }];
  });
}

type Aims = Omit<Basis, 'observed'>;
type SlotAction = Exclude<Action, { readonly kind: 'discard' }>;

function deedOf(action: SlotAction, instance: Instance, aims: Aims): Deed | undefined {
  switch (action.kind) {
    case 'empty':
      return goes(instance) ? replaced(action.reason, instance, aims) : undefined;
    case 'remove':
      return goes(instance)
        ? deed('Removed', 'surplus', `more than the ${aims.desired.replicas} that are wanted`)
        : undefined;
    case 'build':
      return built(action.revision, instance, aims);
    case 'heal':
      return healed(action);
    case 'prompt':
      return prompted(action, instance);
    case 'unhold':
    case 'pin':
    case 'unpin':
    case 'touch':
    case 'withdraw':
    case 'return':
    case 'nudge':
    case 'relabel':
      return undefined;
    default:
      return unreachable(action);
  }
}

/** What belongs to every claim; everything else is the cure of something that went wrong for a user. */
const ROUTINE: ReadonlySet<string> = new Set(['hold', 'unhold', 'protection', 'label', 'mark']);

function healed({ object, lacks }: Extract<SlotAction, { readonly kind: 'heal' }>): Deed | undefined {
  const cured = lacks.filter((word) => !ROUTINE.has(word));
  const details = cured.map((word) => `${object}: ${word}`);
  return cured.length === 0 ? undefined : deed('Healed', '', 'its user has again what was lost', details);
}

function prompted({ remedy }: Extract<SlotAction, { readonly kind: 'prompt' }>, { ailment }: Instance): Deed {
  const details = ailment === undefined ? [] : [ailment.message];
  return deed('Repaired', remedy, `the platform operator is prompted (${remedy})`, details);
}

/** What goes away bit by bit is told of once: while what runs it still stands. */
function goes({ workload, terminating }: Instance): boolean {
  return workload !== undefined && !terminating;
}

function replaced(reason: ReplaceReason, { drift, dirt, trouble }: Instance, { desired }: Aims): Deed {
  const revision = desired.revision ?? '';
  const key = `${reason}/${revision}`;
  switch (reason) {
    case 'stale':
      return deed('Replaced', key, `stale, revision ${revision} is built instead`, drift);
    case 'dirty':
      return deed(
        'Replaced',
        key,
        'a user left traces, nobody else gets it',
        dirt === undefined ? [] : [dirt],
      );
    case 'broken':
      return deed(
        'Replaced',
        key,
        'broken, a fresh one may do better',
        trouble === undefined ? [] : [trouble.cause, trouble.message],
      );
    case 'refresh':
      return deed('Replaced', key, `a person asked for it, revision ${revision} is built`);
    case 'surplus':
      return deed('Replaced', key, `more than the ${desired.replicas} that are wanted`);
    default:
      return unreachable(reason);
  }
}

function built(revision: string, instance: Instance, { plan }: Aims): Deed | undefined {
  // The second half of a replacement, which is told of already.
  if (plan.status.ledger.some(({ slot }) => slot === instance.slot)) return undefined;
  return instance.anchor === undefined
    ? deed('Created', revision, `nothing could be handed out there, revision ${revision} is built`)
    : deed('Repaired', revision, 'what was missing of it is made again');
}

function deed(reason: Deed['reason'], key: string, why: string, details: readonly string[] = []): Deed {
  return { reason, type: 'Normal', key, noun: 'slot', things: [], why, details };
}
