import type { AppDefinition } from './crds.ts';

const DATA_BRIDGE_PORT = 16281;

type Spec = AppDefinition['spec'];

/** The port of the monitor extension, if the definition has one. */
export function monitorPort({ monitor }: Spec): number | undefined {
  const port = monitor?.port ?? 0;
  return port > 0 ? port : undefined;
}

/** The same, where it is not the IDE's own port: two ports of one number are refused. */
export function extraMonitorPort(spec: Spec): number | undefined {
  const port = monitorPort(spec);
  return port === spec.port ? undefined : port;
}

/** Through the data bridge a warm instance gets its environment after the claim. */
export function hasDataBridge({ options }: Spec): boolean {
  return ['1', 'true'].includes(String(options?.['dataBridgeEnabled']).toLowerCase());
}

/** The data bridge's port, where it is neither the IDE's nor the monitor's. */
export function extraDataBridgePort(spec: Spec): number | undefined {
  if (!hasDataBridge(spec)) return undefined;
  const port = dataBridgePort(spec);
  return port === spec.port || port === spec.monitor?.port ? undefined : port;
}

/** What is no number is passed over, as the operator does it. */
function dataBridgePort({ options }: Spec): number {
  const text = String(options?.['dataBridgePort'] ?? '');
  return /^[+-]?[0-9]+$/.test(text) ? Number(text) : DATA_BRIDGE_PORT;
}
