import type { KubeObject } from '../../kube/api.ts';
import { amounts, unlabelled } from './_objects.ts';
import { claimedVolume, mountPath } from './_volume.ts';
import type { AppDefinition, Sidecar } from './crds.ts';
import { APP_LABEL, SIDECAR_LABEL } from './labels.ts';
import { sidecarName } from './names.ts';
import type { SlotParts } from './parts.ts';

export interface Env {
  readonly name: string;
  readonly value: string;
}

const VOLUME = 'workspace-data';
/** The operator asks for these where the definition asks for nothing. */
const DEFAULTS = { cpuLimit: '500m', memoryLimit: '1Gi', cpuRequest: '100m', memoryRequest: '256Mi' };
/** Unlike all other owners of the platform, a sidecar's holds up the deletion of its AppDefinition. */
const BLOCKING = { blockOwnerDeletion: true, controller: false };

/** The Service and the Deployment of each sidecar. */
export function sidecarParts(appDefinition: AppDefinition, slot: number): SlotParts {
  const parts = (appDefinition.spec.sidecars ?? []).flatMap((sidecar) => [
    [`sidecarService/${sidecar.name}`, service(appDefinition, sidecar, slot)],
    [`sidecarDeployment/${sidecar.name}`, deployment(appDefinition, sidecar, slot)],
  ]);
  return Object.fromEntries(parts);
}

/** What tells the IDE of its sidecars. */
export function sidecarVariables(appDefinition: AppDefinition, slot: number): readonly Env[] {
  const sidecars = appDefinition.spec.sidecars ?? [];
  if (sidecars.length === 0) return [];
  const host = ({ name }: Sidecar) => sidecarName(appDefinition, slot, name);
  const each = sidecars.flatMap((sidecar) => {
    const prefix = `SIDECAR_${sidecar.name.toUpperCase().replaceAll('-', '_')}`;
    return [
      { name: `${prefix}_HOST`, value: host(sidecar) },
      { name: `${prefix}_PORT`, value: String(sidecar.port) },
    ];
  });
  const config = sidecars.map((sidecar) => ({
    name: sidecar.name,
    host: host(sidecar),
    port: sidecar.port,
    languages: sidecar.languages ?? [],
  }));
  return [...each, { name: 'SIDECAR_CONFIG', value: JSON.stringify(config) }];
}

function service(appDefinition: AppDefinition, sidecar: Sidecar, slot: number): KubeObject {
  const name = sidecarName(appDefinition, slot, sidecar.name);
  const { port } = sidecar;
  return {
    ...object(appDefinition, { apiVersion: 'v1', kind: 'Service' }, name, sidecar),
    spec: {
      type: 'ClusterIP',
      selector: { [APP_LABEL]: name },
      ports: [{ port, targetPort: port, protocol: 'TCP' }],
    },
  };
}

function deployment(appDefinition: AppDefinition, sidecar: Sidecar, slot: number): KubeObject {
  const { spec } = appDefinition;
  const name = sidecarName(appDefinition, slot, sidecar.name);
  const mounts = sidecar.mountWorkspace === true;
  const pullSecret = spec.pullSecret?.trim() ? spec.pullSecret : undefined;
  return {
    ...object(appDefinition, { apiVersion: 'apps/v1', kind: 'Deployment' }, name, sidecar),
    spec: {
      replicas: 1,
      selector: { matchLabels: { [APP_LABEL]: name } },
      template: {
        metadata: { labels: labelsOf(name, sidecar) },
        spec: {
          ...(pullSecret === undefined ? {} : { imagePullSecrets: [{ name: pullSecret }] }),
          containers: [container(appDefinition, sidecar)],
          ...(mounts ? { volumes: [claimedVolume(appDefinition, VOLUME, slot)] } : {}),
        },
      },
    },
  };
}

function container(appDefinition: AppDefinition, sidecar: Sidecar): unknown {
  const path = mountPath(appDefinition);
  const asked = (amount: keyof typeof DEFAULTS) =>
    sidecar[amount]?.trim() ? sidecar[amount] : DEFAULTS[amount];
  return {
    name: sidecar.name,
    image: sidecar.image,
    ports: [{ containerPort: sidecar.port, protocol: 'TCP' }],
    resources: {
      limits: amounts(asked('cpuLimit'), asked('memoryLimit')),
      requests: amounts(asked('cpuRequest'), asked('memoryRequest')),
    },
    ...(sidecar.mountWorkspace === true
      ? {
          env: [{ name: 'WORKSPACE_PATH', value: path }],
          volumeMounts: [{ name: VOLUME, mountPath: path }],
        }
      : {}),
  };
}

function object(
  appDefinition: AppDefinition,
  type: Pick<KubeObject, 'apiVersion' | 'kind'>,
  name: string,
  sidecar: Sidecar,
): KubeObject {
  return unlabelled(appDefinition, type, name, labelsOf(name, sidecar), BLOCKING);
}

function labelsOf(name: string, sidecar: Sidecar): Readonly<Record<string, string>> {
  return { [APP_LABEL]: name, [SIDECAR_LABEL]: sidecar.name };
}
