import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startLocalCluster } from '../../src/app/local-cluster.ts';
import { systemClock as clock, systemRandom as random } from '../../src/clock.ts';
import { EVENTS } from '../../src/controller/write-events.ts';
import type { Commit } from '../../src/embedded/types.ts';
import type { KubeApi } from '../../src/kube/api.ts';
import { WARM_POOL_CRD } from '../../src/platform/warm-pool-crd.ts';
import { standing } from '../../src/simulator/_track.ts';
import { THEIA_CRDS } from '../../src/simulator/theia-crds.ts';

/** A cluster, as the process that speaks for it has it. */
export interface Stage {
  /** For whom only what concerns the namespace counts: every commit so far, then every one as it comes. */
  follow(listener: (commit: Commit) => void): void;
  /** Each write of Everwarm, Events aside, as soon as it is known of. */
  onWrite(listener: () => void): void;
  /** Whether a commit may be Everwarm's. */
  mayBeOurs(commit: Commit): boolean;
  as(user: 'person' | 'operator'): KubeApi;
  /** Everwarm's, for the functions and the forwarder. */
  readonly kubeconfig: string;
}

export const READY_AFTER_MS = 200;

/** The embedded one, in this process. Over the network comes Everwarm alone; people and the operator are in this process. */
export async function embeddedStage(directory: string, namespace: string): Promise<Stage> {
  const cluster = await startLocalCluster({
    clock,
    random,
    port: 0,
    readyAfterMs: READY_AFTER_MS,
    crds: [THEIA_CRDS, [WARM_POOL_CRD]],
    namespaces: [namespace],
  });
  const mayBeOurs = ({ request, resource }: Commit): boolean =>
    request.user === 'admin' && resource.plural !== EVENTS.plural;
  const file = join(directory, 'kubeconfig');
  await cluster.writeKubeconfig(file, namespace);
  return {
    follow(listener) {
      for (const commit of standing(cluster.store)) listener(commit);
      cluster.store.onCommit(listener);
    },
    onWrite(listener) {
      cluster.store.onCommit((commit) => {
        if (mayBeOurs(commit)) listener();
      });
    },
    mayBeOurs,
    as: (user) => cluster.as(user),
    kubeconfig: await readFile(file, 'utf8'),
  };
}
