import { brokenRule } from '../../../src/controller/guard.ts';
import type { KubeObject } from '../../../src/kube/api.ts';
import type { Observation, Request } from '../../../src/platform/platform.ts';
import { planPool } from '../../../src/pool/plan.ts';
import type { Plan, Waiting } from '../../../src/pool/types.ts';
import { NAMESPACE, observe } from './_portal.ts';

/** The portal's WarmPool in guard, and what its status remembers. */
export function warmPool(
  waiting: readonly Remembered[] = [],
  annotations: Record<string, string> = {},
): KubeObject {
  return {
    apiVersion: 'everwarm.dev/v1alpha1',
    kind: 'WarmPool',
    metadata: { name: 'campus-labs', namespace: NAMESPACE, uid: 'w', resourceVersion: '1', annotations },
    spec: { mode: 'guard' },
    status: { waiting },
  };
}

type Remembered = Omit<Waiting, 'since'> & { readonly since: string };

export interface Guarded {
  readonly observation: Observation;
  readonly plan: Plan;
  /** `slot: remedy`, or the kind of another action. */
  readonly actions: readonly string[];
  /** What would be sent now; each has passed the guard of production. */
  readonly requests: readonly Request[];
}

/** What guard would do about `objects` at `now`. */
export async function guarded(objects: readonly KubeObject[], now: string): Promise<Guarded> {
  const observation = await observe(objects, { now, mode: 'guard' });
  const { desired, observed, policy } = observation;
  const pass = { token: 'this-pass', refusals: [] };
  const plan = planPool(desired, { ...observed, pass }, policy, observation.now);
  const requests = plan.actions.flatMap((action) => {
    const sent = observation.requestsFor(action, 'this-pass');
    for (const request of sent) {
      const rule = brokenRule(request, action, observation);
      if (rule !== undefined) throw new Error(`${action.kind}: ${rule}`);
    }
    return sent;
  });
  const actions = plan.actions.map((action) =>
    action.kind === 'prompt'
      ? `${action.slot}: ${action.remedy}`
      : `${'slot' in action ? action.slot : ''}: ${action.kind}`,
  );
  return { observation, plan, actions, requests };
}

/** What was tried so far, long enough ago that the next remedy is due. */
export function triedLongAgo(
  slot: string,
  key: string,
  tries: number,
  since = '2026-11-30T12:00:00Z',
): Remembered {
  return { slot, cause: 'ailing', revision: key, since, tries };
}
