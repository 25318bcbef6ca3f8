import type { JsonPatchOperation, KubeObject, Resource } from '../../kube/api.ts';
import type { Remedy } from '../../pool/types.ts';
import type { Disposable, Reach, Request } from '../platform.ts';
import { NUDGE_ANNOTATION } from '../warm-pool.ts';
import type { Environment, Portal, Session, Workshop } from './crds.ts';
import { type Dropped, type DroppedBySlot, droppedText, readDropped } from './dropped.ts';
import type { Entry } from './entries.ts';
import { DROPPED_ANNOTATION } from './labels.ts';
import { TRAINING_PORTALS, WORKSHOP_ENVIRONMENTS, WORKSHOP_SESSIONS, WORKSHOPS } from './resources.ts';

/** One way to move the portal, and the request that does it. */
export interface Lever extends Remedy {
  request(pass: string): Request;
}

/** What the levers write, and nothing else: our annotations, an entry as a whole, and what nobody is in. */
export const REACH: Reach = {
  deletes: new Set([WORKSHOP_ENVIRONMENTS.kind, WORKSHOP_SESSIONS.kind]),
  patches: {
    [TRAINING_PORTALS.kind]:
      /^\/metadata\/annotations(\/everwarm\.dev~1(nudge|dropped))?$|^\/spec\/workshops(\/\d+)?$/,
    [WORKSHOP_ENVIRONMENTS.kind]: /^\/metadata\/annotations(\/everwarm\.dev~1nudge)?$/,
    [WORKSHOPS.kind]: /^\/metadata\/annotations(\/everwarm\.dev~1nudge)?$/,
  },
};

interface Annotated {
  readonly object: KubeObject;
  readonly isBlank: boolean;
}

/** A ready environment that the portal has never taken into use: it does so at the next event about it. */
export function annotateEnvironment(environment: Environment): Lever {
  return annotate(WORKSHOP_ENVIRONMENTS, environment, false);
}

/** The portal makes what is missing at the next event about itself. */
export function annotatePortal(portal: Portal): Lever {
  return annotate(TRAINING_PORTALS, portal, false);
}

/** The portal compares every environment in use with the Workshop at the next event about that, and replaces what differs. */
export function annotateWorkshop(workshop: Workshop): Lever {
  return annotate(WORKSHOPS, workshop, true);
}

function annotate(resource: Resource, target: Annotated, takes: boolean): Lever {
  const on = `${resource.kind} ${target.object.metadata.name}`;
  return {
    name: `annotate ${on}`,
    on,
    takes,
    request: (pass) => patch(resource, target, note(target, NUDGE_ANNOTATION, pass)),
  };
}

/** The entry is dropped, and put back when the portal has seen that: it makes a new environment, and the old one drains. */
export function readmit(portal: Portal, { slot, at }: Entry, now: number): Lever {
  const generation = (portal.object.metadata.generation ?? 0) + 1;
  const on = `${TRAINING_PORTALS.kind} ${portal.name}`;
  return {
    name: 're-admit the entry',
    on,
    takes: true,
    request: (pass) => {
      const entry = portal.given?.[at];
      const dropped = new Map(readDropped(portal) ?? []).set(slot, {
        entry,
        at,
        pass,
        since: now,
        generation,
      });
      return patch(TRAINING_PORTALS, portal, [
        { op: 'remove', path: `/spec/workshops/${at}` },
        ...note(portal, DROPPED_ANNOTATION, droppedText(dropped)),
      ]);
    },
  };
}

/** One write: the entry stands in the list or in our annotation, whoever dies. What somebody has put back stays as they want it. */
export function putBack(portal: Portal, { slot, isBack }: Entry, { entry, at }: Dropped): Request {
  const rest = new Map(readDropped(portal) ?? []);
  rest.delete(slot);
  const back = isBack === true ? [] : [insert(portal, entry, at)];
  return patch(TRAINING_PORTALS, portal, [...back, ...withoutDropped(rest)]);
}

function insert({ given }: Portal, entry: unknown, at: number): JsonPatchOperation {
  return given === undefined
    ? { op: 'add', path: '/spec/workshops', value: [entry] }
    : { op: 'add', path: `/spec/workshops/${Math.min(at, given.length)}`, value: entry };
}

function withoutDropped(rest: DroppedBySlot): readonly JsonPatchOperation[] {
  const path = annotationPath(DROPPED_ANNOTATION);
  return [rest.size === 0 ? { op: 'remove', path } : { op: 'add', path, value: droppedText(rest) }];
}

/** Nobody is in it, and the portal has let go of it. */
export function deleteEnvironment(environment: Environment): Lever {
  return remove({ ...WORKSHOP_ENVIRONMENTS, kind: 'WorkshopEnvironment' }, environment);
}

/** A session that no user was ever given: the portal makes another one within its next passes. */
export function recycleSession(session: Session): Lever {
  return remove({ ...WORKSHOP_SESSIONS, kind: 'WorkshopSession' }, session);
}

function remove(resource: Disposable, { object }: Annotated): Lever {
  const { name, uid = '', resourceVersion = '' } = object.metadata;
  const on = `${resource.kind} ${name}`;
  const place = { namespace: '', name, uid, resourceVersion };
  return {
    name: `delete ${on}`,
    on,
    takes: false,
    request: () => ({ verb: 'delete', resource, ...place, propagation: 'Background' }),
  };
}

function note({ isBlank }: Annotated, annotation: string, value: string): readonly JsonPatchOperation[] {
  return isBlank
    ? [{ op: 'add', path: '/metadata/annotations', value: { [annotation]: value } }]
    : [{ op: 'add', path: annotationPath(annotation), value }];
}

function annotationPath(annotation: string): string {
  return `/metadata/annotations/${annotation.replace('/', '~1')}`;
}

function patch(
  resource: Resource,
  { object }: Annotated,
  operations: readonly JsonPatchOperation[],
): Request {
  const { name, resourceVersion = '' } = object.metadata;
  return {
    verb: 'patch',
    resource,
    namespace: '',
    name,
    resourceVersion,
    patch: [{ op: 'test', path: '/metadata/resourceVersion', value: resourceVersion }, ...operations],
  };
}
