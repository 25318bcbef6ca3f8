import type { KubeObject } from '../../kube/api.ts';
import { unlabelled } from './_objects.ts';
import type { AppDefinition } from './crds.ts';
import { WORKSPACE_LABEL } from './labels.ts';
import { volumeClaimName } from './names.ts';
import type { Settings } from './settings.ts';

const MOUNT_PATH = '/home/project/persisted';

/** A warm instance has a volume of its own only if one of its sidecars shares it with the IDE. */
export function hasVolume({ spec }: AppDefinition): boolean {
  return (spec.sidecars ?? []).some(({ mountWorkspace }) => mountWorkspace === true);
}

/** Where the IDE and its sidecars mount it. */
export function mountPath({ spec }: AppDefinition): string {
  return spec.mountPath ? spec.mountPath : MOUNT_PATH;
}

/** The instance's own volume claim. */
export function volumeClaim(appDefinition: AppDefinition, settings: Settings, slot: number): KubeObject {
  const { storageClassName, requestedStorage } = settings;
  const name = volumeClaimName(appDefinition, slot);
  const labels = { [WORKSPACE_LABEL]: `${appDefinition.spec.name}-instance-${slot}` };
  return {
    ...unlabelled(appDefinition, { apiVersion: 'v1', kind: 'PersistentVolumeClaim' }, name, labels),
    spec: {
      accessModes: ['ReadWriteMany'],
      // The operator's template makes nothing of an empty name: then the cluster's default class is taken.
      ...(storageClassName === '' ? {} : { storageClassName }),
      resources: { requests: { storage: requestedStorage } },
    },
  };
}

/** What makes the volume a part of a pod's spec. */
export function claimedVolume(appDefinition: AppDefinition, name: string, slot: number): unknown {
  return { name, persistentVolumeClaim: { claimName: volumeClaimName(appDefinition, slot) } };
}
