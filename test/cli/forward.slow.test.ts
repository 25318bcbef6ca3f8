import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Folder, folder, type Started, start } from './_program.ts';

let home: Folder;
let world: Started;

beforeAll(async () => {
  home = folder();
  world = start(home.path, ['up', '--world', 'empty', '--kubeconfig-out', 'config', '--json']);
  await world.line(({ type }) => type === 'Ready');
});

afterAll(async () => {
  await world.end();
  home.remove();
});

const text = async (url: string) => (await fetch(url)).text();

it('a forwarder of its own watches the cluster, and ends when it is asked to', async () => {
  const file = join(home.path, 'forward.yaml');
  const secret = join(home.path, 'k1');
  writeFileSync(secret, `whsec_${Buffer.alloc(32, 7).toString('base64')}\n`);
  const webhook = { url: 'http://127.0.0.1:9', key: 'k1', secretFile: secret };
  const health = { host: '127.0.0.1', port: 0 };
  writeFileSync(
    file,
    JSON.stringify({ cluster: 'prod', namespaces: ['theia'], webhook, health, drainSeconds: 0 }),
  );
  const forward = start(home.path, ['forward', '--config', file, '--kubeconfig', 'config', '--json']);
  const ready = await forward.line(({ type }) => type === 'Ready');
  expect(ready).toMatchObject({ cluster: 'prod', namespaces: ['theia'], webhook: 'http://127.0.0.1:9' });
  expect(await text(`${ready['health']}/readyz`)).toBe('ok\n');
  expect(await text(`${ready['health']}/livez`)).toBe('ok\n');
  expect(await text(`${ready['health']}/metrics`)).toMatch(
    /^everwarm_watch_silence_seconds\{.*kind="WarmPool"\} /m,
  );
  const { code, lines } = await forward.end();
  expect(code).toBe(0);
  expect(lines.at(-1)).toMatchObject({ type: 'Stopped' });
});

it('the whole loop beside a cluster says how it is, looks only, and ends when it is asked to', async () => {
  const up = start(home.path, [
    'up',
    '--kubeconfig',
    'config',
    '-n',
    'theia',
    '--resync',
    '1s',
    '--health-port',
    '0',
    '--json',
  ]);
  const ready = await up.line(({ type }) => type === 'Ready');
  await up.line(({ type }) => type === 'Resync');
  expect(await text(`${ready['health']}/readyz`)).toBe('ok\n');
  expect(await text(`${ready['health']}/metrics`)).toMatch(/^everwarm_resyncs_total\{result="done"\} [1-9]/m);
  expect((await up.end()).code).toBe(0);
});

it('neither begins with a port that is taken or a file that is wrong', async () => {
  const taken = new URL(String(world.lines[0]?.['server'])).port;
  const args = ['up', '--kubeconfig', 'config', '-n', 'theia', '--health-port', taken];
  expect(await start(home.path, args).ended).toMatchObject({
    code: 1,
    err: `everwarm: cannot listen on 127.0.0.1:${taken}: EADDRINUSE\n`,
  });
  const file = join(home.path, 'wrong.yaml');
  writeFileSync(file, 'cluster: Prod');
  expect(await start(home.path, ['forward', '--config', file, '--kubeconfig', 'config']).ended).toMatchObject(
    {
      code: 1,
      err: expect.stringContaining('wrong.yaml: cluster: is no name'),
    },
  );
});
