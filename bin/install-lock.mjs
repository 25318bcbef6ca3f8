// One installation at a time in one clone. Plain JavaScript for Node 20.
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 200;
/** A lock without a process id is being written, or its writer died in between. */
const UNNAMED_MS = 5_000;

/** Waits until no other process holds the lock of `root`; the returned function gives it back. */
export async function lock(root, say) {
  const folder = join(root, '.everwarm/install.lock');
  mkdirSync(join(root, '.everwarm'), { recursive: true });
  let unnamedSince;
  for (let isFirst = true; !take(folder); isFirst = false) {
    if (isFirst) say('another process is installing; waiting for it ...');
    const pid = ownerOf(folder);
    unnamedSince = pid === undefined ? (unnamedSince ?? Date.now()) : undefined;
    const isDead = pid === undefined ? Date.now() - unnamedSince > UNNAMED_MS : !isAlive(pid);
    if (isDead) rmSync(folder, { recursive: true, force: true });
    else await sleep(POLL_MS);
  }

  const release = () => rmSync(folder, { recursive: true, force: true });
  const stops = Object.entries({ SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }).map(([name, code]) => [
    name,
    () => process.exit(code),
  ]);
  process.once('exit', release);
  for (const [signal, stop] of stops) process.once(signal, stop);
  return () => {
    process.off('exit', release);
    for (const [signal, stop] of stops) process.off(signal, stop);
    release();
  };
}

function take(folder) {
  try {
    mkdirSync(folder);
    writeFileSync(join(folder, 'pid'), String(process.pid));
    return true;
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
}

function ownerOf(folder) {
  try {
    return Number(readFileSync(join(folder, 'pid'), 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}
