import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readClustersFile } from '../../../src/app/functions/clusters-file.ts';

/** Reads a file of this text. */
function read(text: string) {
  const directory = mkdtempSync(join(tmpdir(), 'everwarm-clusters-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'clusters.json');
  writeFileSync(file, text);
  try {
    return readClustersFile(file);
  } catch (error) {
    throw new Error(String(error).replace(file, 'FILE'));
  }
}

const CA = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n';
const eks = {
  id: 'prod-eu',
  server: 'https://ABC.eks.amazonaws.com',
  ca: Buffer.from(CA).toString('base64'),
  auth: { kind: 'eks', name: 'prod', region: 'eu-central-1' },
  signingKeys: 'everwarm/prod/forwarder-prod-eu',
  platforms: { 'theia-cloud': { namespaces: ['ide'], mode: 'guard' } },
};
const k3s = {
  id: 'course',
  server: 'https://k3s.test:6443',
  ca: CA,
  auth: {
    kind: 'serviceAccount',
    secret: 'arn:aws:secretsmanager:eu-central-1:123456789012:secret:everwarm/prod/k3s-AbCdEf',
  },
  platforms: { 'theia-cloud': { namespaces: ['ide'] } },
};
const managed = { id: 'old', auth: { kind: 'kubeconfig', secret: 'everwarm/prod/old' }, platforms: {} };
const withCluster = (change: object) => JSON.stringify({ clusters: [{ ...eks, ...change }] });

describe('the clusters that are configured', () => {
  it('are as many as are wanted, each reached in its own way', () => {
    const clusters = read(JSON.stringify({ clusters: [eks, k3s, managed] }));
    expect(clusters.map(({ id, auth }) => [id, auth.kind])).toEqual([
      ['prod-eu', 'eks'],
      ['course', 'serviceAccount'],
      ['old', 'kubeconfig'],
    ]);
  });

  it('are only looked at unless it is said that they may be written to', () => {
    expect(read(JSON.stringify({ clusters: [k3s] }))[0]?.platforms['theia-cloud']?.mode).toBe('observe');
  });

  it.each([
    ['is not JSON', '{', 'FILE: not readable as JSON'],
    ['is empty', '{}', 'FILE: clusters: '],
    ['has no cluster', '{"clusters":[]}', 'FILE: clusters: '],
    [
      'has a word nobody knows',
      JSON.stringify({ clusters: [k3s], clutsers: [] }),
      'FILE: clutsers: is not known',
    ],
    ['has a bad id', withCluster({ id: '../x' }), 'FILE: clusters.0.id: '],
    ['has a server without TLS', withCluster({ server: 'http://x' }), 'FILE: clusters.0.server: '],
    ['has no server', withCluster({ server: undefined }), 'FILE: clusters.0.server: is missing'],
    [
      'has half a certificate',
      withCluster({ ca: 'MIIB' }),
      'FILE: clusters.0.ca: is no PEM certificate, nor its base64',
    ],
    ['has an unknown way in', withCluster({ auth: { kind: 'password' } }), 'FILE: clusters.0.auth.kind: '],
    [
      'has half a way in',
      withCluster({ auth: { kind: 'eks', name: 'prod' } }),
      'FILE: clusters.0.auth.region: ',
    ],
    [
      'has a bad mode',
      withCluster({ platforms: { 'theia-cloud': { namespaces: ['ide'], mode: 'own' } } }),
      'FILE: clusters.0.platforms.theia-cloud.mode: ',
    ],
    [
      'has no namespace',
      withCluster({ platforms: { 'theia-cloud': { namespaces: [] } } }),
      'FILE: clusters.0.platforms.theia-cloud.namespaces: ',
    ],
    [
      'has a cluster twice',
      JSON.stringify({ clusters: [eks, k3s, eks] }),
      'FILE: clusters.2.id: another cluster has it already',
    ],
    [
      'says of a kubeconfig what it says itself',
      JSON.stringify({ clusters: [{ ...managed, server: 'https://x' }] }),
      'FILE: clusters.0.server: the kubeconfig has its own, and its ca',
    ],
  ])('cannot be read from a file that %s, and it is said where', (_title, text, message) => {
    expect(() => read(text)).toThrow(message);
  });

  it('cannot be read from a file that is not there', () => {
    expect(() => readClustersFile('/nowhere/clusters.json')).toThrow('/nowhere/clusters.json: no such file');
  });
});
