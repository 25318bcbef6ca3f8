import { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import type { FunctionConfig } from '../../config.ts';
import type { Bus } from '../../transport/bus.ts';
import { createEventBridge } from '../../transport/eventbridge.ts';
import { readClustersFile } from './clusters-file.ts';
import { type ClusterRegistry, createClusterRegistry } from './registry.ts';
import type { Runtime } from './runtime.ts';
import { createSecrets } from './secrets.ts';

/** The clusters of the file. Throws TerminalError, with file and field, when it cannot be used. */
export function openRegistry(
  { clustersFile: file }: Pick<FunctionConfig, 'clustersFile'>,
  runtime: Runtime,
): ClusterRegistry {
  const client = new SecretsManagerClient();
  return createClusterRegistry({
    ...runtime,
    file,
    clusters: readClustersFile(file),
    readSecret: createSecrets({ client, clock: runtime.clock }),
    credentials: () => client.config.credentials(),
  });
}

/** The bus that is told of outcomes. */
export function openBus({ busName }: Pick<FunctionConfig, 'busName'>, runtime: Runtime): Bus {
  return createEventBridge({ client: new EventBridgeClient(), busName, ...runtime });
}
