import type { TestProject } from 'vitest/node';
import { findBinaries } from '../real-cluster/build.ts';
import { startRealCluster } from '../real-cluster/cluster.ts';
import { install } from './_installed.ts';
import './_stage.ts';

/** One cluster for all stories of a run; where its programs are missing, the reason stands in its place. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const binaries = findBinaries();
  if (binaries.kind === 'missing') {
    project.provide('realCluster', binaries.reason);
    return undefined;
  }
  const cluster = await startRealCluster();
  await install(cluster);
  const { server, caPem, kubeconfig, users, auditLog } = cluster;
  project.provide('realCluster', { server, caPem, kubeconfig, users, auditLog });
  return async () => {
    const seconds = (program: string) => `${program} ${Math.round(cluster.cpuMs(program) / 1_000)} s`;
    const programs = ['kube-apiserver', 'etcd', 'kube-controller-manager'];
    process.stderr.write(`processor time of the real cluster: ${programs.map(seconds).join(', ')}\n`);
    await cluster.stop();
  };
}
