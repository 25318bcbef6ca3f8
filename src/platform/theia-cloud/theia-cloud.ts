import type { KubeApi, KubeObject, OwnerReference } from '../../kube/api.ts';
import type { Action, Desired, Problem } from '../../pool/types.ts';
import type { Hints, Observation, Platform, Request, Scope } from '../platform.ts';
import { defaultPolicy, NO_MEMORY, type ReadWarmPool, readWarmPool, type UnnamedMode } from '../warm-pool.ts';
import { deletePart } from './_guarded.ts';
import { unhold } from './_heal.ts';
import { pin, unpin } from './_pins.ts';
import { type Adoption, adoptionOf } from './adoption.ts';
import { caresOf } from './care.ts';
import { claimOf } from './claims.ts';
import { type AppDefinition, parseAppDefinition } from './crds.ts';
import { instanceOf } from './instance.ts';
import { leftoversOf } from './leftovers.ts';
import { isQuiet, operatorOf, quotaFingerprint } from './neighbours.ts';
import { objectsOf } from './parts.ts';
import { readNamespace, type Snapshot } from './read.ts';
import { type ProxyTemplate, poolRevision, proxyProblem, renderSlot } from './render.ts';
import { requestsOf, type WorkableSlot } from './requests.ts';
import { PROXY_TEMPLATE_NAME } from './resources.ts';
import { type Settings, settingsFromOperator } from './settings.ts';
import { routeConcern } from './shared-route.ts';
import { sidecarProblem } from './sidecar-problems.ts';
import type { SlotView } from './slot-view.ts';
import { type Arranged, arrange, partsOf, podsOf, sidecarPodsOf, slotNumbers } from './slots.ts';
import { unsupported } from './unsupported.ts';
import { keysOf, WATCHES } from './watches.ts';

export interface TheiaCloudOptions {
  /** The mode of pools whose WarmPool does not name one. */
  readonly mode: UnnamedMode;
  /** The operator's settings where no operator runs. */
  readonly settings?: Settings;
  /** Where instances get their proxy from, if not from its own registry. */
  readonly oAuth2ProxyImage?: string;
  /** Name of the operator's own Deployment, in the pools' namespace. */
  readonly operatorDeployment?: string;
}

const OPERATOR_DEPLOYMENT = 'operator-deployment';

/** Theia Cloud: a pool is an AppDefinition, its slots are the ids 1..minInstances, the anchor is the external Service. */
export function createTheiaCloud(options: TheiaCloudOptions): Platform {
  return {
    name: 'theia-cloud',
    watches: WATCHES,
    keysOf,
    observe: (api, scope, hints) => observe(api, scope, hints, options),
  };
}

async function observe(
  api: KubeApi,
  scope: Scope,
  hints: Hints,
  options: TheiaCloudOptions,
): Promise<readonly Observation[]> {
  const snapshot = await readNamespace(api, scope, hints);
  if (snapshot === undefined) return [];
  const arranged = arrange(snapshot);
  const pools = new Map(
    snapshot.warmPools.map((pool) => [pool.metadata.name, readWarmPool(pool, options.mode)]),
  );
  const settings = readSettings(snapshot, options);
  return snapshot.sources
    .filter(({ metadata }) => scope.name === undefined || metadata.name === scope.name)
    .filter(({ metadata }) => metadata.deletionTimestamp === undefined)
    .map((source) =>
      poolObservation({
        source,
        arranged,
        settings,
        warmPool: pools.get(source.metadata.name),
        scope,
        options,
      }),
    );
}

type ReadSettings = { readonly settings: Settings } | { readonly problem: Problem };

/** From the running operator's own arguments: a template rendered with other settings would replace every instance. */
function readSettings({ deployments }: Snapshot, options: TheiaCloudOptions): ReadSettings {
  const name = options.operatorDeployment ?? OPERATOR_DEPLOYMENT;
  const operator = deployments.find(({ metadata }) => metadata.name === name);
  if (operator === undefined) {
    const message = `there is no Deployment ${name} to read the operator's settings from, and none are configured (EVERWARM_SETTINGS, a JSON object with at least instancesHost)`;
    return options.settings === undefined
      ? { problem: { reason: 'SettingsUnknown', message } }
      : { settings: options.settings };
  }
  const { oAuth2ProxyImage } = options;
  const read = settingsFromOperator(
    operator,
    oAuth2ProxyImage === undefined ? undefined : { oAuth2ProxyImage },
  );
  if (read.kind === 'parsed') return { settings: read.value };
  return {
    problem: {
      reason: 'SettingsUnknown',
      message: `argument ${read.field} of Deployment ${name} ${read.reason}`,
    },
  };
}

interface PoolInput {
  readonly source: KubeObject;
  readonly arranged: Arranged;
  readonly settings: ReadSettings;
  readonly warmPool: ReadWarmPool | undefined;
  readonly scope: Scope;
  readonly options: TheiaCloudOptions;
}

function poolObservation(input: PoolInput): Observation {
  const { source, arranged, warmPool, scope } = input;
  const { snapshot } = arranged;
  const { memory } = warmPool ?? { memory: NO_MEMORY };
  const template = want(input);
  const views = template.source === undefined ? [] : viewsOf(input, template.source, template);
  const leftovers = leftoversOf(snapshot, source.metadata.uid ?? '', warmPool?.ref.uid, views);
  // A slot of which only a left-over stands is empty, and stays so until that is gone.
  const instances = views
    .filter(({ parts }) => !leftovers.some((left) => objectsOf(parts).includes(left)))
    .map(instanceOf);
  const { name } = source.metadata;
  const operator = operatorOf(snapshot);
  const bySlot = new Map(views.map((view) => [String(view.slot), view]));
  return {
    key: { cluster: scope.cluster, platform: 'theia-cloud', namespace: scope.namespace, name },
    now: snapshot.now,
    desired: desiredOf(input, template, adoptionOf({ views, operator, adopted: memory.adopted === true })),
    observed: {
      instances,
      memory,
      operator,
      quiet: isQuiet(snapshot, name, operator.alive),
      leftovers: leftovers.map((left) => `${left.kind}/${left.metadata.name}`),
      quotas: quotaFingerprint(snapshot.quotas),
      // Of a definition that does not parse (or a namespace that may not be read) the slots are not known.
      ...(template.source === undefined ? { unreadable: true } : {}),
    },
    policy: warmPool?.policy ?? defaultPolicy(input.options.mode),
    warmPool: warmPool?.ref,
    source: reference(source),
    requestsFor: (action, pass) => requestsFor(action, pass, bySlot, leftovers),
  };
}

function desiredOf({ source, arranged }: PoolInput, template: Want, adoption: Adoption): Desired {
  const problem = template.problem ?? adoption.problem;
  const concern = template.source && routeConcern(template.source, arranged.snapshot.routes);
  return {
    replicas: template.source?.spec.minInstances ?? rawReplicas(source),
    sourceCounter: source.metadata.generation ?? 0,
    ...(template.revision === undefined ? {} : { revision: template.revision }),
    ...(problem === undefined ? {} : { problem }),
    ...(concern === undefined ? {} : { concern }),
    ...(adoption.adopted ? { adopted: true } : {}),
  };
}

interface Want {
  readonly source?: AppDefinition;
  readonly settings?: Settings;
  readonly proxy?: ProxyTemplate | undefined;
  readonly revision?: string;
  readonly problem?: Problem;
}

/** What is wanted, or the first reason why that cannot be computed; then nothing is stale (P17). */
function want({ source, settings, arranged, warmPool }: PoolInput): Want {
  const { forbidden } = arranged.snapshot;
  if (forbidden !== undefined) return { problem: { reason: 'Forbidden', message: forbidden } };
  const read = parseAppDefinition(source);
  if (read.kind === 'invalid') {
    return { problem: { reason: 'InvalidDefinition', message: `${read.field} ${read.reason}` } };
  }
  const app = read.value;
  if (warmPool?.problem !== undefined)
    return { source: app, problem: { reason: 'InvalidWarmPool', message: warmPool.problem } };
  if ('problem' in settings) return { source: app, problem: settings.problem };
  const notYet = unsupported(settings.settings);
  if (notYet !== undefined) return { source: app, problem: { reason: 'Unsupported', message: notYet } };

  const proxy = dataOf(arranged.configMaps.get(PROXY_TEMPLATE_NAME));
  const lacking = proxyProblem(settings.settings, proxy);
  if (lacking !== undefined)
    return { source: app, problem: { reason: 'ProxyTemplateMissing', message: lacking } };
  const twin = arranged.snapshot.sources.find(
    (other) => other !== source && specName(other) === app.spec.name,
  );
  if (twin !== undefined) {
    const message = `spec.name ${app.spec.name} is also that of ${twin.metadata.name}`;
    return { source: app, problem: { reason: 'InvalidDefinition', message } };
  }
  const problem = sidecarProblem(app);
  return {
    source: app,
    settings: settings.settings,
    proxy,
    revision: poolRevision(app, settings.settings, proxy),
    ...(problem === undefined ? {} : { problem }),
  };
}

function viewsOf(
  { arranged, warmPool }: PoolInput,
  source: AppDefinition,
  { settings, proxy, revision }: Want,
): readonly SlotView[] {
  const { routes, sessions, now } = arranged.snapshot;
  return slotNumbers(arranged, source).map((slot) => ({
    slot,
    source,
    parts: partsOf(arranged, source, slot),
    pods: podsOf(arranged, source, slot),
    sidecarPods: sidecarPodsOf(arranged, source, slot),
    rendered: settings === undefined ? undefined : renderSlot(source, settings, slot, proxy),
    revision,
    warmPool,
    settings,
    routes,
    sessions,
    now,
  }));
}

function requestsFor(
  action: Action,
  pass: string,
  views: ReadonlyMap<string, SlotView>,
  leftovers: readonly KubeObject[],
): readonly Request[] {
  if (action.kind === 'discard') {
    return leftovers.filter((o) => `${o.kind}/${o.metadata.name}` === action.name).flatMap(deletePart);
  }
  const view = views.get(action.slot);
  if (action.kind === 'heal' || action.kind === 'unhold')
    return view === undefined ? [] : forUser(view, action, pass);
  if (view === undefined) return [];
  // What is only kept needs no rendering.
  if (action.kind === 'pin') return pin(view, action.step, pass);
  if (action.kind === 'unpin') return unpin(view, action.step);
  return isWorkable(view) ? requestsOf(view, action, pass) : [];
}

/** What a claimed slot is given needs no rendering, but for what is missing. */
function forUser(
  view: SlotView,
  action: Extract<Action, { kind: 'heal' | 'unhold' }>,
  pass: string,
): readonly Request[] {
  const claim = claimOf(view);
  if (claim === undefined) return [];
  if (action.kind === 'unhold') return unhold(view);
  const care = caresOf(view, claim).find(({ object }) => object === action.object);
  return care?.requests(pass) ?? [];
}

function isWorkable(view: SlotView): view is WorkableSlot {
  return view.rendered !== undefined && view.revision !== undefined && view.warmPool !== undefined;
}

function reference({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}

function dataOf(configMap: KubeObject | undefined): ProxyTemplate | undefined {
  return configMap?.['data'] as ProxyTemplate | undefined;
}

/** How many a definition wants that does not parse as a whole. */
function rawReplicas(source: KubeObject): number {
  const { spec } = source as unknown as { spec?: { minInstances?: unknown } };
  const wanted = spec?.minInstances;
  return typeof wanted === 'number' && Number.isInteger(wanted) && wanted >= 0 ? wanted : 0;
}

function specName(source: KubeObject): unknown {
  const { spec } = source as unknown as { spec?: { name?: unknown } };
  return spec?.name;
}
