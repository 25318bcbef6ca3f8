import type { KubeObject } from '../kube/api.ts';
import type { SlotDetails } from '../platform/platform.ts';
import { GENERATION_LABEL } from '../platform/theia-cloud/labels.ts';
import { slotOf } from '../platform/theia-cloud/names.ts';
import { REVISION_LABEL } from '../platform/warm-pool.ts';
import { formatKey } from '../pool/key.ts';
import { timestamp } from '../pool/status.ts';
import type { Instance } from '../pool/types.ts';
import { partsOf, sourceOf } from './_objects.ts';
import type { PoolLook } from './look.ts';
import type { InstanceName } from './names.ts';
import { goesBy } from './names.ts';
import { type SlotView, slotView } from './pool-view.ts';
import { heldIn, waitIn, whatOf, whyOf } from './words.ts';

/** One object of an instance, as far as decisions look at it. */
interface PartView {
  readonly kind: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly owners: readonly string[];
  readonly createdAt?: string;
  readonly deletingSince?: string;
  /** What vouches for it: our revision label, the platform's own. */
  readonly labels: Readonly<Record<string, string>>;
}

/** Every fact that decides about one slot, and what comes of them. */
export interface InstanceView extends SlotView {
  readonly pool: string;
  readonly parts: readonly PartView[];
  /** Paths in which it differs from what would be rendered now. */
  readonly drift: readonly string[];
  /** Each fact in one sentence. */
  readonly facts: readonly string[];
  /** What happens next, in one sentence each. */
  readonly next: readonly string[];
  readonly nextCheckAt?: string;
}

/** The look and the instance that go by `name`; `undefined` when there is none. */
export function findInstance(
  looks: readonly PoolLook[],
  name: InstanceName,
): { readonly look: PoolLook; readonly instance: Instance } | undefined {
  for (const look of looks) {
    const { key, observed } = look.observation;
    if (name.kind === 'slot' && !goesBy(key, name.pool)) continue;
    const slot = name.kind === 'slot' ? name.slot : slotNamed(look, name.name);
    const instance = observed.instances.find((one) => one.slot === slot);
    if (instance !== undefined) return { look, instance };
  }
  return undefined;
}

/** The slot of which `deployment` is the Deployment, or another object that the platform names. */
function slotNamed(look: PoolLook, deployment: string): string | undefined {
  const source = sourceOf(look);
  const slot = source === undefined ? undefined : slotOf(deployment, source);
  if (slot !== undefined) return String(slot);
  const { observed, detailsOf: details } = look.observation;
  const isNamed = ({ metadata }: KubeObject) => metadata.name === deployment;
  return observed.instances.find((one) => details?.(one.slot)?.objects.some(isNamed))?.slot;
}

/** Everything about one instance. */
export function instanceView(look: PoolLook, instance: Instance): InstanceView {
  const { observation, plan } = look;
  return {
    pool: formatKey(observation.key),
    ...slotView(look, instance),
    parts: (detailsOf(look, instance)?.objects ?? partsOf(look, instance)).map(partView),
    drift: instance.drift,
    facts: [...factsOf(look, instance), ...(detailsOf(look, instance)?.facts ?? [])],
    next: nextOf(look, instance),
    ...(plan.nextCheckAt === undefined ? {} : { nextCheckAt: timestamp(plan.nextCheckAt) }),
  };
}

function detailsOf({ observation }: PoolLook, { slot }: Instance): SlotDetails | undefined {
  return observation.detailsOf?.(slot);
}

function partView({ kind, metadata }: KubeObject): PartView {
  const { name, uid = '', resourceVersion = '', ownerReferences = [], labels = {} } = metadata;
  const vouching = [REVISION_LABEL, GENERATION_LABEL].flatMap((label) => {
    const value = labels[label];
    return value === undefined ? [] : [[label, value] as const];
  });
  return {
    kind,
    name,
    uid,
    resourceVersion,
    owners: ownerReferences.map((owner) => `${owner.kind}/${owner.name}`),
    ...(metadata.creationTimestamp === undefined ? {} : { createdAt: metadata.creationTimestamp }),
    ...(metadata.deletionTimestamp === undefined ? {} : { deletingSince: metadata.deletionTimestamp }),
    labels: Object.fromEntries(vouching),
  };
}

function factsOf({ observation, plan }: PoolLook, instance: Instance): readonly string[] {
  const { slot, withdrawn, trouble } = instance;
  const ledger = observation.observed.memory.ledger.find((entry) => entry.slot === slot);
  const waiting = plan.status.waiting.filter((entry) => entry.slot === slot);
  const facts: readonly (string | false | undefined)[] = [
    instance.target ? undefined : `beyond the ${observation.desired.replicas} that are wanted`,
    !instance.exists && 'nothing stands under its names',
    userFact(instance),
    instance.foreign !== undefined && `${instance.foreign} is not ours: the slot is left alone`,
    withdrawn !== undefined &&
      `withdrawn, building ${withdrawn.building || 'nothing yet'} (pass ${withdrawn.pass})`,
    instance.claimable && instance.claimedBy === undefined && 'the platform may hand it out',
    instance.absent && instance.exists && 'a part is missing',
    instance.terminating && 'a part is being deleted',
    instance.dirt !== undefined && `its last user left: ${instance.dirt}`,
    instance.refresh && 'a person asked for a new one',
    instance.relabel && 'a label is older than the definition',
    instance.unstable &&
      'it differs although it was made for this very revision: something rewrites what is sent',
    trouble !== undefined && `not ready: ${trouble.cause}, ${trouble.message}`,
    ledger !== undefined && `in the ledger: being replaced for revision ${ledger.revision}`,
    ...waiting.map(
      ({ cause, tries }) => `waits for ${waitIn(cause)}${tries > 0 ? ` (tried ${tries} times)` : ''}`,
    ),
  ];
  return facts.filter((fact) => typeof fact === 'string');
}

function userFact({ claimedBy, usedBy }: Instance): string | undefined {
  if (claimedBy !== undefined) return `claimed by ${claimedBy}: it is never touched while that stands`;
  return usedBy && `in use by ${usedBy}: whatever is done, they stay until they leave`;
}

function nextOf({ observation, plan }: PoolLook, instance: Instance): readonly string[] {
  const { slot } = instance;
  const { policy, desired } = observation;
  if (desired.problem !== undefined) {
    return [
      `nothing, until the pool's problem is solved: ${desired.problem.reason}, ${desired.problem.message}`,
    ];
  }
  const isDone = policy.mode === 'guard' || plan.leaving;
  const actions = plan.actions
    .filter((action) => 'slot' in action && action.slot === slot)
    .map(
      (action) =>
        `${isDone ? '' : 'mode observe, so not done: '}${whatOf(action)}, because ${whyOf(action, instance)}`,
    );
  const held = plan.held
    .filter((one) => one.slot === slot || (one.slot === '*' && instance.claimedBy === undefined))
    .map(({ reason }) => `held back: ${heldIn(reason, policy)}`);
  const found = (observation.findings ?? [])
    .filter((finding) => finding.slot === slot)
    .map(({ message }) => `found: ${message}`);
  const said = [...actions, ...held, ...found];
  if (said.length > 0) return said;
  if (instance.claimedBy !== undefined) {
    return [
      instance.drift.length > 0 || !instance.target
        ? 'kept for its user; replaced or removed when released'
        : 'kept for its user',
    ];
  }
  return [instance.phase === 'ready' ? 'nothing: it is as it should be' : 'nothing to do but wait'];
}
