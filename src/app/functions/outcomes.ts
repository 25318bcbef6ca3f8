import type { OutcomeEvent } from '../../controller/outcome.ts';
import type { Action } from '../../pool/types.ts';
import type { BusEvent } from '../../transport/bus.ts';

/** An outcome as the bus is told of it: scalars only. */
export function busEventOf(event: OutcomeEvent): BusEvent {
  const { type, pool, ...rest } = event;
  if (!('action' in rest)) return { type, pool, detail: rest };
  const { action, ...others } = rest;
  const isReplaced = type === 'ActionDone' && action.kind === 'return';
  return { type: isReplaced ? 'InstanceReplaced' : type, pool, detail: { ...others, ...named(action) } };
}

function named(action: Action): Readonly<Record<string, string>> {
  return {
    action: action.kind,
    ...('slot' in action ? { slot: action.slot } : {}),
    ...('reason' in action ? { reason: action.reason } : {}),
  };
}
