import type { Commit } from '../../src/embedded/types.ts';
import type { KubeObject } from '../../src/kube/api.ts';
import { CONFIG_MAPS, DEPLOYMENTS, SERVICES } from '../../src/platform/theia-cloud/resources.ts';
import { WARM_POOLS } from '../../src/platform/warm-pool.ts';
import type { Counts, LedgerEntry } from '../../src/pool/types.ts';
import { type SlotView, slotViews } from '../../src/simulator/_slot-view.ts';
import type { TruthReader } from '../../src/simulator/truth.ts';
import { INSTANCES, POOL } from './_words.ts';

interface Status {
  readonly revision?: string;
  readonly counts?: Counts;
  readonly ledger?: readonly LedgerEntry[];
}

/** How many instances would be handed out now, and would be worth it. */
export function serving(truth: TruthReader): number {
  return slotViews(truth, POOL).filter(
    ({ user, ready, clean, claimable }) => user === undefined && ready && clean && claimable,
  ).length;
}

/** What keeps the pool from being whole on `image`, its user aside, and what its status does not say as it is. */
export function flawsIn(truth: TruthReader, image: string): readonly string[] {
  const slots = slotViews(truth, POOL);
  const free = slots.filter(({ user }) => user === undefined);
  const { counts, ledger = [] } = (truth.object(WARM_POOLS, POOL)?.['status'] ?? {}) as Status;
  const said = counts === undefined ? 'nothing' : `${counts.ready} ready, ${counts.current} current`;
  const meant = `${free.length} ready, ${free.length} current`;
  return [
    ...(slots.length === INSTANCES ? [] : [`there are ${slots.length} slots`]),
    ...free.flatMap((slot) => flawsOf(slot, image).map((flaw) => `slot ${slot.slot} ${flaw}`)),
    ...(said === meant ? [] : [`the status says ${said}`]),
    ...(ledger.length === 0 ? [] : ['the ledger is open']),
  ];
}

function flawsOf(slot: SlotView, image: string): readonly string[] {
  const flaws: readonly (readonly [flaw: string, isSo: boolean])[] = [
    ['is beyond what is wanted', !slot.target],
    ['is incomplete', !slot.complete],
    ['is not ready', !slot.ready],
    [`has ${slot.image}`, slot.image !== image],
    ['is used', !slot.clean],
    ['is not handed out', !slot.claimable],
  ];
  return flaws.filter(([, isSo]) => isSo).map(([flaw]) => flaw);
}

/** What a write of Everwarm does to an instance that a user holds as it comes, beyond its metadata. `truth`: just before it. */
export function harmBy({ type, object, previous, resource }: Commit, truth: TruthReader): readonly string[] {
  const { name } = object.metadata;
  const slot = truth.slotOf(name)?.slot;
  const held = slotViews(truth, POOL).find((one) => one.slot === slot)?.user;
  if (slot === undefined || held === undefined || type === 'ADDED') return [];
  const isSame = type === 'MODIFIED' && substance(object) === substance(previous);
  return isSame ? [] : [`${type} ${resource.plural}/${name}, which ${held} holds`];
}

function substance(object: KubeObject | undefined): string {
  return JSON.stringify([object?.metadata.uid, object?.['spec'], object?.['data']]);
}

/** Every object of every slot: its kind, its owners and who vouches for it, without names and uids that differ from run to run. */
export function portraitOf(truth: TruthReader): readonly string[] {
  const { revision } = (truth.object(WARM_POOLS, POOL)?.['status'] ?? {}) as Status;
  return [SERVICES, DEPLOYMENTS, CONFIG_MAPS]
    .flatMap((resource) => [...truth.objects(resource).values()].map((object) => ({ resource, object })))
    .flatMap(({ resource, object: { metadata } }) => {
      const slot = truth.slotOf(metadata.name)?.slot;
      if (slot === undefined) return [];
      const owners = (metadata.ownerReferences ?? []).map(({ kind }) => kind).join('+');
      const built = metadata.labels?.['everwarm.dev/revision'] === revision ? 'current' : 'older';
      return [`${slot} ${resource.kind} of ${owners}, ${built}`];
    })
    .sort();
}
