import type { FailureKind } from '../kube/api.ts';
import type { Action, Slot } from '../pool/types.ts';

/** What one pass did, said to people, metrics and the bus. Closed: a new line is a new member. */
export type OutcomeEvent =
  | { readonly type: 'PoolCreated'; readonly pool: string }
  | { readonly type: 'ActionDone'; readonly pool: string; readonly action: Action }
  | {
      readonly type: 'ActionFailed';
      readonly pool: string;
      readonly action: Action;
      readonly kind: FailureKind | 'throttled';
      readonly message: string;
    }
  | {
      readonly type: 'PoolConverged';
      readonly pool: string;
      readonly ready: number;
      readonly claimed: number;
    }
  | { readonly type: 'PoolBlocked'; readonly pool: string; readonly reason: string; readonly message: string }
  /** Kubernetes Events of this pass are lost; nothing else is. */
  | {
      readonly type: 'EventsLost';
      readonly pool: string;
      readonly kind: FailureKind | 'throttled';
      readonly message: string;
    }
  | { readonly type: 'PassFailed'; readonly pool: string; readonly message: string }
  | { readonly type: 'GuardTripped'; readonly pool: string; readonly rule: string; readonly slot: Slot };

/** Told of every outcome; must not throw and is not awaited. */
export type Report = (event: OutcomeEvent) => void;
