import type { Failure, KubeObject } from '../../kube/api.ts';
import { type AppDefinition, parseAppDefinition, type Session } from '../../platform/theia-cloud/crds.ts';
import { APP_DEFINITIONS_V1BETA11, HTTP_ROUTES, SESSIONS } from '../../platform/theia-cloud/resources.ts';
import { ownsIt, setAnnotations, setEntries } from './_operator-edits.ts';
import type { OperatorContext } from './_operator-parts.ts';
import { HandlerError } from './operator-hands.ts';

/** How often a mended operator writes a status that others write, too. */
const STATUS_TRIES = 5;

/** When a Session's URL is asked for, in ms between tries, until it answers: about an hour in all. */
const URL_TRIES: readonly (readonly [times: number, everyMs: number])[] = [
  [60, 500],
  [60, 1_000],
  [24, 2_500],
  [60, 5_000],
  [105, 30_000],
];

export interface SessionContext extends OperatorContext {
  /** Runs `work` after every other work that was given to it has ended. */
  readonly oneAtATime: <T>(work: () => Promise<T>) => Promise<T>;
  readonly urlAnswers: () => boolean;
  readonly sessionsPerUser: number | undefined;
}

/** The last steps of every start: the URL is polled for, and the Session counts as handled, whatever its pod does. */
export async function publish(context: SessionContext, session: Session, path: string): Promise<void> {
  pollUrl(context, session, path);
  await setStatus(context, session, { operatorStatus: 'HANDLED', lastActivity: context.hands.now() });
}

/** Waits, beside everything else, for a Session's URL to answer and writes it down. Nobody takes over at a restart. */
export function pollUrl(context: SessionContext, session: Session, path: string): void {
  const { hands, settings, urlAnswers } = context;
  context.beside(async () => {
    for (const [times, everyMs] of URL_TRIES) {
      for (let tries = 0; tries < times; tries += 1) {
        await hands.sleep(everyMs);
        if (urlAnswers()) return setStatus(context, session, { url: `${settings.instancesHost}${path}/` });
      }
    }
  });
}

/** The shared route, recognised by its owner alone. */
export async function sharedRoute(
  { hands, faults }: OperatorContext,
  { metadata, spec }: AppDefinition,
): Promise<KubeObject | undefined> {
  return (await hands.list(HTTP_ROUTES)).find((route) =>
    faults.ownsSharedRoute ? ownsIt(route, metadata.uid) : route.metadata.name === spec.ingressname,
  );
}

export async function appDefinitionOf(
  { hands }: OperatorContext,
  { spec }: Session,
): Promise<AppDefinition | undefined> {
  const found = await hands.get(APP_DEFINITIONS_V1BETA11, spec.appDefinition);
  if (found.kind === 'notFound') return undefined;
  if (found.kind !== 'ok') throw new HandlerError(`reading ${spec.appDefinition}: ${found.message}`);
  const app = parseAppDefinition(found.value);
  return app.kind === 'parsed' ? app.value : undefined;
}

/** Ends a Session in ERROR. `error` is what its user gets to see; most causes have none. */
export function fail(
  context: OperatorContext,
  session: Session,
  operatorMessage: string,
  error?: string,
): Promise<void> {
  const seen = error ?? (context.faults.hidesErrors ? undefined : `551:${operatorMessage}`);
  return setStatus(context, session, {
    operatorStatus: 'ERROR',
    operatorMessage,
    ...(seen === undefined ? {} : { error: seen }),
  });
}

/** Writes status fields. A conflict ends the handler, as it does in the operator; a Session that is gone is let go. */
export async function setStatus(
  { hands, faults }: OperatorContext,
  { metadata }: Session,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const place = { name: metadata.name, subresource: 'status' } as const;
  const write = (): Promise<Failure | undefined> =>
    hands.edit(SESSIONS, place, (live) => {
      const known = live['status'] as Readonly<Record<string, unknown>> | undefined;
      const wanted = known === undefined ? { ...fields, lastActivity: fields['lastActivity'] ?? 0 } : fields;
      return { other: setEntries('/status', known, wanted) };
    });
  let failure = await write();
  for (
    let tries = 1;
    failure?.kind === 'conflict' && !faults.endsOnConflict && tries < STATUS_TRIES;
    tries += 1
  )
    failure = await write();
  throwUnlessGone(metadata.name, failure);
}

export async function annotate(
  { hands }: OperatorContext,
  { metadata }: Session,
  annotations: Readonly<Record<string, string>>,
): Promise<void> {
  const failure = await hands.edit(SESSIONS, { name: metadata.name }, (live) => ({
    metadata: setAnnotations(live, annotations),
  }));
  throwUnlessGone(metadata.name, failure);
}

function throwUnlessGone(name: string, failure: Failure | undefined): void {
  if (failure === undefined || failure.kind === 'notFound') return;
  throw new HandlerError(`writing Session ${name}: ${failure.message}`);
}
