import { TerminalError } from '../errors.ts';
import { UnreadableError } from '../platform/reading.ts';
import type { OpenCluster } from './cluster.ts';
import { findInstance, type InstanceView, instanceView } from './instance-view.ts';
import { lookAtPools, type PoolLook, type Selection, type ServedCluster } from './look.ts';
import { formatPoolName, type InstanceName, type PoolName } from './names.ts';

/** A cluster that can be named when it does not answer. */
type AskedCluster = ServedCluster & Pick<OpenCluster, 'server'>;

/** The pools that are meant. Rejects with TerminalError when one is named that is not there, or nothing can be read. */
export async function findPools(
  cluster: AskedCluster,
  name: PoolName | undefined,
): Promise<readonly PoolLook[]> {
  if (name === undefined) return await look(cluster, 'all');
  refuseOtherCluster(cluster, name);
  const looks = await look(cluster, name);
  if (looks.length > 0) return looks;
  const where = name.namespace ?? cluster.namespaces.join(', ');
  throw new TerminalError(`there is no pool ${formatPoolName(name)} in namespace ${where}`);
}

/** The one pool that is meant. Rejects with TerminalError also when several namespaces have one of that name. */
export async function findPool(cluster: AskedCluster, name: PoolName): Promise<PoolLook> {
  const [found, another] = await findPools(cluster, name);
  if (found !== undefined && another === undefined) return found;
  throw new TerminalError(`several namespaces have a pool ${name.name}: write namespace/${name.name}`);
}

/** Everything about the instance that is meant. Rejects with TerminalError when there is none. */
export async function explainInstance(cluster: AskedCluster, name: InstanceName): Promise<InstanceView> {
  const { look: found, instance } = await findOne(cluster, name);
  return instanceView(found, instance);
}

/** The pool and slot of the instance that is meant. Rejects with TerminalError when there is none. */
export async function findSlot(
  cluster: AskedCluster,
  name: InstanceName,
): Promise<{ readonly look: PoolLook; readonly slot: string }> {
  const { look: found, instance } = await findOne(cluster, name);
  return { look: found, slot: instance.slot };
}

async function findOne(cluster: AskedCluster, name: InstanceName) {
  if (name.kind === 'slot') {
    const found = findInstance(await findPools(cluster, name.pool), name);
    if (found !== undefined) return found;
    throw new TerminalError(`pool ${formatPoolName(name.pool)} has no slot ${name.slot}`);
  }
  const namespaces = name.namespace === undefined ? cluster.namespaces : [name.namespace];
  const found = findInstance(await look({ ...cluster, namespaces }, 'all'), name);
  if (found !== undefined) return found;
  // POOL/SLOT is written like namespace/name, where a slot has a name.
  const asSlot = await slotOfPool(cluster, name);
  if (asSlot !== undefined) return asSlot;
  const where = namespaces.join(', ');
  throw new TerminalError(`no pool in namespace ${where} has an instance whose Deployment is ${name.name}`);
}

async function slotOfPool(
  cluster: AskedCluster,
  { namespace: pool, name: slot }: Extract<InstanceName, { kind: 'deployment' }>,
) {
  if (pool === undefined) return undefined;
  const named = { name: pool };
  return findInstance(await look(cluster, named), { kind: 'slot', pool: named, slot });
}

async function look(cluster: AskedCluster, selection: Selection): Promise<readonly PoolLook[]> {
  try {
    return await lookAtPools(cluster, selection);
  } catch (cause) {
    if (!(cause instanceof UnreadableError)) throw cause;
    throw new TerminalError(`the cluster at ${cluster.server} cannot be read: ${cause.message}`, { cause });
  }
}

function refuseOtherCluster({ id, platforms }: ServedCluster, name: PoolName): void {
  if (name.cluster !== undefined && name.cluster !== id) {
    throw new TerminalError(`this is cluster ${id}, not ${name.cluster}: choose it with --context`);
  }
  if (name.platform !== undefined && !platforms.some((platform) => platform.name === name.platform)) {
    const known = platforms.map((platform) => platform.name).join(', ');
    throw new TerminalError(`there is no platform ${name.platform}; there is ${known}`);
  }
}
