import { z } from 'zod';
import type { Portal } from './crds.ts';

/** An entry that was taken out of a portal's list and is to be put back: until then it stands in our annotation alone. */
export interface Dropped {
  /** Word for word. */
  readonly entry: unknown;
  /** Where in the list it stood. */
  readonly at: number;
  readonly pass: string;
  /** When it was dropped, epoch ms of the server's clock. */
  readonly since: number;
  /** The portal's generation after that. */
  readonly generation: number;
}

const DroppedSchema = z.record(
  z.string(),
  z.object({
    entry: z.unknown(),
    at: z.int().min(0),
    pass: z.string(),
    since: z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
    generation: z.int(),
  }),
);

export type DroppedBySlot = ReadonlyMap<string, Dropped>;

/** What the annotation says, by slot; `undefined` when it cannot be read: then it is left as it is. */
export function readDropped({ dropped }: Pick<Portal, 'dropped'>): DroppedBySlot | undefined {
  if (dropped === undefined) return new Map();
  try {
    return new Map(Object.entries(DroppedSchema.parse(JSON.parse(dropped))));
  } catch {
    return undefined;
  }
}

/** The annotation's text. */
export function droppedText(dropped: DroppedBySlot): string {
  const entries = [...dropped].map(([slot, one]) => [
    slot,
    { ...one, since: new Date(one.since).toISOString() },
  ]);
  return JSON.stringify(Object.fromEntries(entries));
}
