import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readForwardConfig } from '../../src/app/forward-config.ts';
import type { ForwardVariables } from '../../src/config.ts';
import { SECRET, SECRET_TEXT } from '../transport/_world.ts';

/** The configuration that these lines of a file and these variables make. */
function read(lines: readonly string[], variables: ForwardVariables = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'everwarm-forward-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'k1'), `${SECRET_TEXT}\n`);
  const file = join(folder, 'forward.yaml');
  writeFileSync(file, lines.join('\n').replace('SECRET_FILE', join(folder, 'k1')));
  try {
    return readForwardConfig(file, variables);
  } catch (error) {
    // The folder's name is by chance.
    throw new Error(String(error instanceof Error ? error.message : error).replaceAll(`${folder}/`, ''));
  }
}

const WHOLE = [
  'cluster: prod-eu',
  'namespaces: [theia, ide, theia]',
  'webhook:',
  '  url: https://door.example.com/',
  '  key: k1',
  '  secretFile: SECRET_FILE',
];

const without = (name: string) => WHOLE.filter((line) => !line.trim().startsWith(name));

describe('the configuration of the forwarder', () => {
  it('is a file, with defaults for what can have them', () => {
    expect(read(WHOLE)).toEqual({
      cluster: 'prod-eu',
      namespaces: ['theia', 'ide'],
      webhook: { url: 'https://door.example.com/v1/notices/prod-eu/k1', secret: SECRET },
      health: { host: '0.0.0.0', port: 8_080 },
      heartbeatSeconds: 60,
      drainSeconds: 10,
    });
  });

  it('is the environment alone where there is no file', () => {
    const variables = {
      cluster: 'prod-eu',
      namespaces: 'theia, ide',
      webhookUrl: 'https://door.example.com',
      webhookKey: 'k2',
      webhookSecret: SECRET_TEXT,
    };
    expect(readForwardConfig(undefined, variables)).toMatchObject({
      cluster: 'prod-eu',
      namespaces: ['theia', 'ide'],
      webhook: { url: 'https://door.example.com/v1/notices/prod-eu/k2', secret: SECRET },
    });
  });

  it('takes the word of the environment before that of the file', () => {
    expect(read(WHOLE, { cluster: 'staging', webhookKey: 'k9' })).toMatchObject({
      cluster: 'staging',
      webhook: { url: 'https://door.example.com/v1/notices/staging/k9' },
    });
  });

  it.each<{ title: string; lines: readonly string[]; variables?: ForwardVariables; problem: RegExp }>([
    { title: 'without a cluster', lines: without('cluster'), problem: /^forward\.yaml: cluster: is missing/ },
    {
      title: 'with a cluster that is no name',
      lines: ['cluster: Prod EU', ...without('cluster')],
      problem: /^forward\.yaml: cluster: is no name/,
    },
    {
      title: 'with a namespace that is none',
      lines: ['namespaces: [theia, "../etc"]', ...without('namespaces')],
      problem: /^forward\.yaml: namespaces\.1: is no namespace/,
    },
    { title: 'without a URL', lines: without('url'), problem: /^forward\.yaml: webhook\.url: / },
    {
      title: 'with a field that nobody knows',
      lines: [...WHOLE, 'namespace: theia'],
      problem: /^forward\.yaml: namespace: is not known$/,
    },
    {
      title: 'with a variable that is no name',
      lines: WHOLE,
      variables: { cluster: 'PROD' },
      problem: /^EVERWARM_CLUSTER: is no name/,
    },
    { title: 'that is no YAML', lines: ['cluster: [prod'], problem: /^forward\.yaml: not readable as YAML$/ },
    { title: 'that is only a word', lines: ['cluster'], problem: /^forward\.yaml: it: / },
    {
      title: 'without a secret',
      lines: without('secretFile'),
      problem: /^forward\.yaml: webhook\.secretFile: is missing \(or set EVERWARM_WEBHOOK_SECRET\)$/,
    },
    {
      title: 'with a secret file that is not there',
      lines: [...without('secretFile'), '  secretFile: /nowhere/k1'],
      problem: /^forward\.yaml: webhook\.secretFile: \/nowhere\/k1 cannot be read/,
    },
    {
      title: 'with a secret that is too short',
      lines: WHOLE,
      variables: { webhookSecret: 'whsec_c2hvcnQtY2FuYXJ5' },
      problem: /^EVERWARM_WEBHOOK_SECRET: a signing secret must be whsec_ and the base64 of 24 to 64 bytes$/,
    },
  ])('$title is refused by the name of what is wrong', ({ lines, variables, problem }) => {
    expect(() => read(lines, variables)).toThrow(problem);
  });

  it('says nothing of a secret that it refuses', () => {
    const secret = 'whsec_c2hvcnQtY2FuYXJ5';
    expect(() => read(WHOLE, { webhookSecret: secret })).toThrow(/^(?!.*c2hvcnQtY2FuYXJ5)/s);
  });

  it('names a file that is not there', () => {
    expect(() => readForwardConfig('/nowhere/forward.yaml', {})).toThrow(
      '/nowhere/forward.yaml: no such file',
    );
  });
});
