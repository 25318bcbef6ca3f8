import type { Failure, KubeObject, OwnerReference, Resource } from '../../kube/api.ts';
import { plainName } from '../../platform/theia-cloud/names.ts';
import { PERSISTENT_VOLUME_CLAIMS, SESSIONS } from '../../platform/theia-cloud/resources.ts';
import { setEntries } from './_operator-edits.ts';
import type { OperatorContext } from './_operator-parts.ts';
import { HandlerError } from './operator-hands.ts';

export const WORKSPACES: Resource = {
  group: 'theia.cloud',
  version: 'v1beta5',
  kind: 'Workspace',
  plural: 'workspaces',
  namespaced: true,
};

interface Workspace extends KubeObject {
  readonly spec: { readonly name: string; readonly user: string; readonly appDefinition?: string };
  readonly status?: { readonly operatorStatus?: string };
}

/** Gives a new Workspace the claim that its files live in. Each step is written down before the next. */
export async function handleWorkspace(context: OperatorContext, object: KubeObject): Promise<void> {
  const workspace = object as Workspace;
  const status = workspace.status?.operatorStatus ?? 'NEW';
  const { name } = workspace.metadata;
  if (status === 'HANDLED' || status === 'ERROR') return;
  const step = (fields: Readonly<Record<string, unknown>>): Promise<void> => setStatus(context, name, fields);
  if (status === 'HANDLING')
    return step({ operatorStatus: 'ERROR', operatorMessage: 'Handling was unexpectedly interrupted.' });
  const { hands } = context;
  await step({ operatorStatus: 'HANDLING' });
  await step({ volumeClaim: { status: 'started', message: '' } });
  const claim = claimFor(context, workspace);
  await step({
    volumeClaim: { status: 'finished', message: '' },
    volumeAttach: { status: 'started', message: '' },
  });
  const found = await hands.get(PERSISTENT_VOLUME_CLAIMS, claim.metadata.name);
  if (found.kind === 'notFound') await hands.create(PERSISTENT_VOLUME_CLAIMS, claim);
  await step({ volumeAttach: { status: 'claimed', message: '' } });
  const storage = await hands.edit(WORKSPACES, { name }, ({ spec }) => ({
    other: setEntries('/spec', spec as Readonly<Record<string, unknown>>, { storage: claim.metadata.name }),
  }));
  throwUnlessGone(name, storage);
  await step({ volumeAttach: { status: 'finished', message: '' } });
  await step({ operatorStatus: 'HANDLED' });
}

/** After a Workspace's end: its Session, and its claim if the garbage collector was not faster. */
export async function handleDeletedWorkspace(context: OperatorContext, object: KubeObject): Promise<void> {
  const { hands } = context;
  await hands.delete(SESSIONS, `${object.metadata.name}-session`, {});
  await hands.delete(PERSISTENT_VOLUME_CLAIMS, claimName(object as Workspace), {});
}

const claimName = ({ metadata, spec }: Workspace): string =>
  plainName({ prefix: 'ws', user: spec.user, app: spec.appDefinition ?? '', uid: metadata.uid ?? '' });

function claimFor({ settings }: OperatorContext, workspace: Workspace): KubeObject {
  const { apiVersion, kind, metadata, spec } = workspace;
  const owner: OwnerReference = { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: claimName(workspace),
      labels: { 'theia-cloud.io/workspace-name': spec.name },
      ownerReferences: [owner],
    },
    spec: {
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: settings.requestedStorage } },
      storageClassName: settings.storageClassName,
    },
  };
}

async function setStatus(
  { hands }: OperatorContext,
  name: string,
  fields: Readonly<Record<string, unknown>>,
): Promise<void> {
  const failure = await hands.edit(WORKSPACES, { name, subresource: 'status' }, (live) => ({
    other: setEntries('/status', live['status'] as Readonly<Record<string, unknown>> | undefined, fields),
  }));
  throwUnlessGone(name, failure);
}

function throwUnlessGone(name: string, failure: Failure | undefined): void {
  if (failure === undefined || failure.kind === 'notFound') return;
  throw new HandlerError(`writing Workspace ${name}: ${failure.message}`);
}
