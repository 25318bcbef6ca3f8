import type { KubeObject } from '../../kube/api.ts';
import type { Revision } from '../../pool/types.ts';
import type { ReadWarmPool } from '../warm-pool.ts';
import type { AppDefinition } from './crds.ts';
import type { SlotParts } from './parts.ts';
import type { RenderedSlot } from './render.ts';
import type { Settings } from './settings.ts';

/** Everything that one slot is judged on. */
export interface SlotView {
  readonly slot: number;
  readonly source: AppDefinition;
  readonly parts: SlotParts;
  /** The IDE's pods. */
  readonly pods: readonly KubeObject[];
  readonly sidecarPods: readonly KubeObject[];
  /** What stands there should look like this; `undefined` when it cannot be computed. */
  readonly rendered: RenderedSlot | undefined;
  readonly revision: Revision | undefined;
  readonly warmPool: ReadWarmPool | undefined;
  readonly settings: Settings | undefined;
  /** HTTPRoutes by name; `undefined` where they were not read. */
  readonly routes: ReadonlyMap<string, KubeObject> | undefined;
  readonly sessions: ReadonlyMap<string, KubeObject>;
  readonly now: number;
}

/** It is being deleted. */
export function isGoing(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}
