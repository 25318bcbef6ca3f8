import { type AppDefinition, parseAppDefinition } from '../../platform/theia-cloud/crds.ts';
import { instanceNames } from '../../platform/theia-cloud/names.ts';
import { APP_DEFINITIONS_V1BETA11, DEPLOYMENTS, SERVICES } from '../../platform/theia-cloud/resources.ts';
import { setEntries } from './_operator-edits.ts';
import { claimedAmong, type OperatorContext, ownedBy, slotsOf } from './_operator-parts.ts';
import { ensureInstances, passesRouteGate, reconcilePool, releaseAll } from './_operator-pool.ts';
import { reconcileInstance } from './_operator-recycle.ts';
import { releaseForgotten } from './_operator-release.ts';
import type { Heard } from './operator-feed.ts';
import { HandlerError } from './operator-hands.ts';

/** How often a mended operator looks again at what it could not do, or at everything. */
const LOOK_AGAIN_MS = 10_000;
/** How long a mended operator waits for one instance before it goes on to the next. */
const READY_MAX_MS = 60_000;
const READY_LOOK_MS = 500;

/** What the operator does about one event of an AppDefinition. It is not looked at again before the next. */
export async function handleAppDefinition(
  context: OperatorContext,
  type: Heard['type'],
  app: AppDefinition,
  rollsOut: boolean,
): Promise<void> {
  if (!context.settings.eagerStart) return type === 'ADDED' ? handleLazily(context, app) : undefined;
  if (type === 'DELETED') return releaseAll(context, app);
  if (type === 'MODIFIED' && !rollsOut) return;
  if (hasTwins(app)) return context.log(`AppDefinition ${app.metadata.name}: two sidecars of one name`);
  if (!(await passesRouteGate(context, app))) {
    if (!context.faults.gatesOnce) lookAgain(context, app, rollsOut);
    return;
  }
  await (type === 'ADDED' ? handleAdded(context, app, rollsOut) : replaceStale(context, app));
}

async function handleAdded(context: OperatorContext, app: AppDefinition, rollsOut: boolean): Promise<void> {
  if (!context.faults.forgetsReleases) await releaseForgotten(context, app);
  await ensureInstances(context, app);
  if (rollsOut && !context.faults.createsOnlyAtAdded) await replaceStale(context, app);
}

function replaceStale(context: OperatorContext, app: AppDefinition): Promise<void> {
  return context.faults.replacesAllAtOnce ? reconcilePool(context, app) : rollOut(context, app);
}

const hasTwins = ({ spec }: AppDefinition): boolean => {
  const names = (spec.sidecars ?? []).map(({ name }) => name);
  return new Set(names).size < names.length;
};

/** Without warm instances an AppDefinition only gets a status. */
async function handleLazily(context: OperatorContext, app: AppDefinition): Promise<void> {
  const { operatorStatus } = app.status;
  if (operatorStatus === 'HANDLED' || operatorStatus === 'ERROR') return;
  const say = async (fields: Readonly<Record<string, string>>): Promise<void> => {
    const place = { name: app.metadata.name, subresource: 'status' } as const;
    await context.hands.edit(APP_DEFINITIONS_V1BETA11, place, (live) => ({
      other: setEntries('/status', live['status'] as Readonly<Record<string, unknown>> | undefined, fields),
    }));
  };
  if (operatorStatus === 'HANDLING')
    return say({ operatorStatus: 'ERROR', operatorMessage: 'Handling was unexpectedly interrupted.' });
  await say({ operatorStatus: 'HANDLING' });
  if (await passesRouteGate(context, app)) return say({ operatorStatus: 'HANDLED' });
  await say({ operatorStatus: 'ERROR', operatorMessage: 'HTTPRoute does not exist.' });
}

/** One slot after the other, each with its pod up before the next: what the operator should do. */
async function rollOut(context: OperatorContext, app: AppDefinition): Promise<void> {
  const { hands } = context;
  await ensureInstances(context, app);
  const services = await ownedBy(context, SERVICES, app);
  const claimed = claimedAmong(services);
  const standing = services.map(({ metadata }) => Number(metadata.name.split('-')[1]));
  const surplus = [...new Set(standing)].filter((slot) => slot > app.spec.minInstances);
  for (const slot of [...slotsOf(app), ...surplus]) {
    if (claimed.has(slot)) continue;
    await reconcileInstance(context, app, slot);
    const { deployment } = instanceNames(app, slot);
    for (const end = hands.now() + READY_MAX_MS; hands.now() < end; await hands.sleep(READY_LOOK_MS)) {
      const found = await hands.get(DEPLOYMENTS, deployment);
      const status = found.kind === 'ok' ? found.value['status'] : undefined;
      if (found.kind === 'notFound' || Number((status as Status | undefined)?.availableReplicas) > 0) break;
    }
  }
}

interface Status {
  readonly availableReplicas?: number;
}

function lookAgain(context: OperatorContext, { metadata }: AppDefinition, rollsOut: boolean): void {
  context.beside(async () => {
    await context.hands.sleep(LOOK_AGAIN_MS);
    const found = await context.hands.get(APP_DEFINITIONS_V1BETA11, metadata.name);
    const app = found.kind === 'ok' ? parseAppDefinition(found.value) : undefined;
    if (app?.kind === 'parsed') await handleAppDefinition(context, 'ADDED', app.value, rollsOut);
  });
}

/** Looks at every AppDefinition again and again, whatever was heard; never resolves. */
export async function resyncForever(context: OperatorContext, rollsOut: boolean): Promise<void> {
  for (;;) {
    await context.hands.sleep(LOOK_AGAIN_MS);
    for (const object of await context.hands.list(APP_DEFINITIONS_V1BETA11)) {
      const app = parseAppDefinition(object);
      if (app.kind !== 'parsed') continue;
      try {
        await handleAppDefinition(context, 'ADDED', app.value, rollsOut);
      } catch (error) {
        if (!(error instanceof HandlerError)) throw error;
        context.log(`AppDefinition ${object.metadata.name}: ${error.message}`);
      }
    }
  }
}
