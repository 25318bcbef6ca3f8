import type { Clock } from '../../../clock.ts';
import type { KubeApi, KubeObject, Resource } from '../../../kube/api.ts';

/** Events about one object that come within this time of each other are one: the last. */
const WINDOW_MS = 100;
const RECONNECT_MS = 100;

/** `undefined`: from the list at a start. */
type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | undefined;

export interface PortalEvent {
  readonly type: EventType;
  readonly object: KubeObject;
}

/** What becomes of an event on its way to a program: nothing, the same, another, or several. */
export type DeliverPortalEvent = (event: PortalEvent) => readonly PortalEvent[];

interface Ear {
  readonly api: KubeApi;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly deliver?: DeliverPortalEvent;
  readonly log: (line: string) => void;
}

/**
 * Hears of one kind as the programs' framework does: a list, then a watch from there. Events about one object are handled one
 * after the other, those that come close together or during a handler collapse to the last; what a handler throws is logged.
 */
export async function hearKind(
  ear: Ear,
  resource: Resource,
  handle: (event: PortalEvent) => Promise<void>,
): Promise<void> {
  const { api, clock, signal, deliver = (event: PortalEvent) => [event], log } = ear;
  const pending = new Map<string, PortalEvent>();
  const work = async (uid: string): Promise<void> => {
    for (;;) {
      const event = await quiet(clock, () => pending.get(uid), signal);
      if (event === undefined || signal.aborted) return;
      await handle(event).catch((error: unknown) => {
        if (!signal.aborted)
          log(`${resource.kind}: ${error instanceof Error ? error.message : String(error)}`);
      });
      if (pending.get(uid) === event) {
        pending.delete(uid);
        return;
      }
    }
  };
  const hear = (event: PortalEvent): void => {
    for (const heard of deliver(event)) {
      const uid = heard.object.metadata.uid ?? '';
      const isBusy = pending.has(uid);
      pending.set(uid, heard);
      if (!isBusy) void work(uid);
    }
  };
  const listed = await api.list(resource, {});
  if (listed.kind !== 'ok' || signal.aborted) return;
  for (const object of listed.value.items) hear({ type: undefined, object });
  let { resourceVersion } = listed.value;
  while (!signal.aborted) {
    resourceVersion = await watchOnce(ear, resource, resourceVersion, hear);
    await clock.sleep(RECONNECT_MS, signal);
  }
}

/** Hears one stream to its end; answers with where the next one begins. */
async function watchOnce(
  { api, signal, log }: Ear,
  resource: Resource,
  from: string,
  hear: (event: PortalEvent) => void,
): Promise<string> {
  let resourceVersion = from;
  try {
    for await (const event of api.watch(resource, { resourceVersion }, signal)) {
      if (signal.aborted || event.type === 'ERROR') break;
      if (event.type === 'BOOKMARK') continue;
      resourceVersion = event.object.metadata.resourceVersion ?? resourceVersion;
      hear({ type: event.type, object: event.object });
    }
  } catch (error) {
    log(`watching ${resource.plural}: ${String(error)}`);
  }
  return resourceVersion;
}

/** The last of what comes, once nothing has come for a while. */
async function quiet<T>(clock: Clock, latest: () => T, signal: AbortSignal): Promise<T> {
  for (;;) {
    const seen = latest();
    await clock.sleep(WINDOW_MS, signal);
    if (signal.aborted || latest() === seen) return seen;
  }
}
