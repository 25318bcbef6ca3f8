import type { Clock, Random } from '../clock.ts';
import { TerminalError } from '../errors.ts';
import type { KubeApi } from '../kube/api.ts';
import { TRAINING_PORTALS, WORKSHOPS } from '../platform/educates/resources.ts';
import { createPortal } from '../simulator/world/educates/portal.ts';
import { createSessionManager } from '../simulator/world/educates/session-manager.ts';

const API_VERSION = 'training.educates.dev/v1beta1';
const PORTAL = 'campus-labs';
/** Where it runs, and its WarmPool is. */
export const PORTAL_NAMESPACE = `${PORTAL}-ui`;
const WORKSHOP = 'lab-java-basics';

export interface DemoPortalOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly as: (user: string) => KubeApi;
}

/** One training portal with one entry stands beside the pool of the demo; it does its work until the returned function is called. */
export async function startDemoPortal({ clock, random, as }: DemoPortalOptions): Promise<() => void> {
  const account = 'system:serviceaccount';
  const programs = [
    createSessionManager({ clock, random, api: as(`${account}:educates:session-manager`) }),
    createPortal({ clock, random, name: PORTAL, api: as(`${account}:${PORTAL_NAMESPACE}:training-portal`) }),
  ];
  const person = as('kubectl');
  const workshop = { title: 'Java Basics', description: 'Java in a browser IDE.', session: {} };
  const entry = { name: WORKSHOP, capacity: 4, initial: 2, reserved: 2 };
  const portal = { sessions: { maximum: 8 }, updates: { workshop: true } };
  const made = [
    await person.create(WORKSHOPS, undefined, {
      apiVersion: API_VERSION,
      kind: WORKSHOPS.kind,
      metadata: { name: WORKSHOP },
      spec: workshop,
    }),
    await person.create(TRAINING_PORTALS, undefined, {
      apiVersion: API_VERSION,
      kind: TRAINING_PORTALS.kind,
      metadata: { name: PORTAL },
      spec: { portal, workshops: [entry] },
    }),
  ];
  for (const outcome of made)
    if (outcome.kind !== 'ok') throw new TerminalError(`the demo's training portal: ${outcome.message}`);
  for (const program of programs) program.start();
  return () => {
    for (const program of programs) program.stop();
  };
}
