import type { TestProject } from 'vitest/node';
import { findBinaries } from '../real-cluster/build.ts';
import { startRealCluster, wireOf } from '../real-cluster/cluster.ts';
import { install } from './_installed.ts';
import { installPolicies } from './_rights.ts';
import './_stage.ts';

/** One cluster for all stories of a run, with the chart's admission policies; where its programs are missing, the reason stands in its place. */
export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const binaries = findBinaries();
  if (binaries.kind === 'missing') {
    project.provide('realCluster', binaries.reason);
    return undefined;
  }
  const cluster = await startRealCluster();
  await install(cluster, { everwarm: 'where it is bound' });
  const wire = wireOf(cluster, 'admin');
  const problem = await installPolicies(wire, cluster.users.controller.name);
  wire.close();
  if (problem !== undefined) process.stderr.write(`without the chart's admission policies: ${problem}\n`);
  const { server, caPem, kubeconfig, users, auditLog } = cluster;
  project.provide('realCluster', { server, caPem, kubeconfig, users, auditLog });
  return async () => {
    const seconds = (program: string) => `${program} ${Math.round(cluster.cpuMs(program) / 1_000)} s`;
    const programs = ['kube-apiserver', 'etcd', 'kube-controller-manager'];
    process.stderr.write(`processor time of the real cluster: ${programs.map(seconds).join(', ')}\n`);
    await cluster.stop();
  };
}
