// Installs the dependencies that package-lock.json names, when they are not there yet. Plain JavaScript for Node 20.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { lock } from './install-lock.mjs';

const TRIES_MAX = 3;
/** A download that stalls is cut off and tried again after this long. */
const TRY_SECONDS = Number(process.env.EVERWARM_INSTALL_SECONDS ?? 300);
/** npm's own patience is minutes; our three tries make up for less of it. */
const FETCH = ['--fetch-timeout=60000', '--fetch-retries=1', '--fetch-retry-mintimeout=2000'];
const PROGRESS_EVERY_MS = 5_000;

/** The version of the `node` dev dependency. */
export const nodeVersion = (root) => readJson(join(root, 'package.json')).devDependencies.node;

export const nodeBinary = (root) => join(root, 'node_modules/node/bin/node');

/** Resolves when node_modules is what package-lock.json says. Everything it has to say goes to stderr. */
export async function ensureInstalled(root) {
  if (isStamped(root)) return;
  const unlock = await lock(root, say);
  try {
    if (isStamped(root)) return;
    if (!matchesLockfile(root)) await npm(root, 'the packages', ['ci', '--ignore-scripts', '--include=dev']);
    // The node package fetches its binary in an install script. Apart from the rest, so that each is retried alone.
    if (!hasNode(root))
      await npm(root, `Node ${nodeVersion(root)}`, ['rebuild', 'node', '--ignore-scripts=false']);
    if (!hasNode(root)) throw new Error(`${nodeBinary(root)} is missing: remove node_modules and try again`);
    writeFileSync(stampFile(root), stamp(root));
  } catch (error) {
    say(error.message);
    unlock();
    process.exit(1);
  }
  unlock();
}

const stampFile = (root) => join(root, 'node_modules/.everwarm-stamp');
/** npm's own record of what stands in node_modules; it rewrites it whenever it changes something there. */
const recordFile = (root) => join(root, 'node_modules/.package-lock.json');

function isStamped(root) {
  try {
    return readFileSync(stampFile(root), 'utf8') === stamp(root) && hasNode(root);
  } catch {
    return false;
  }
}

/** Says which installation node_modules holds: the locked versions, what package.json asks for, the platform. */
function stamp(root) {
  const { dependencies, devDependencies, optionalDependencies, overrides } = readJson(
    join(root, 'package.json'),
  );
  const asked = { dependencies, devDependencies, optionalDependencies, overrides };
  return createHash('sha256')
    .update(readFileSync(join(root, 'package-lock.json')))
    .update(JSON.stringify([asked, process.platform, process.arch, statSync(recordFile(root)).mtimeMs]))
    .digest('hex');
}

/** Somebody ran `npm ci` or `npm install` by hand: npm's own record then says what stands in node_modules. */
function matchesLockfile(root) {
  if (!existsSync(recordFile(root))) return false;
  const installed = readJson(recordFile(root)).packages;
  return Object.entries(readJson(join(root, 'package-lock.json')).packages).every(([path, wanted]) => {
    if (path === '') return true;
    const found = installed[path];
    if (found === undefined) return wanted.optional === true && !fitsPlatform(wanted);
    return found.version === wanted.version && found.integrity === wanted.integrity;
  });
}

/** Packages for other platforms, and what only those need, are rightly absent. */
const fitsPlatform = ({ os, cpu, libc }) =>
  (os !== undefined || cpu !== undefined) &&
  (os === undefined || os.includes(process.platform)) &&
  (cpu === undefined || cpu.includes(process.arch)) &&
  libc === undefined;

function hasNode(root) {
  try {
    accessSync(nodeBinary(root), constants.X_OK);
    return readJson(join(root, 'node_modules/node/package.json')).version === nodeVersion(root);
  } catch {
    return false;
  }
}

/** Runs npm up to three times; a try that takes too long is ended with all that it started. */
async function npm(root, what, args) {
  const startedAt = Date.now();
  const seconds = () => `${Math.round((Date.now() - startedAt) / 1000)} s`;
  say(`installing ${what} (once, until they change) ...`);
  const progress = setInterval(() => say(`installing ${what} ... ${seconds()}`), PROGRESS_EVERY_MS);
  try {
    for (let attempt = 1; ; attempt++) {
      const failure = await tryNpm(root, args);
      if (failure === undefined) break;
      const tries = `try ${attempt} of ${TRIES_MAX}`;
      if (attempt === TRIES_MAX)
        throw new Error(`cannot install ${what}, ${tries}: ${failure}\nIs the registry reachable?`);
      say(`${tries} failed: ${failure}`);
    }
  } finally {
    clearInterval(progress);
  }
  say(`installed ${what} in ${seconds()}`);
}

/** One run of npm; answers why it failed, or undefined. */
function tryNpm(root, args) {
  const quiet = ['--no-audit', '--no-fund', '--no-progress', '--loglevel=error', ...FETCH];
  const child = spawn('npm', [...args, ...quiet], {
    cwd: root,
    // A group of its own, so that a try can be ended with all that it started.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, PATH: pathWithout(root) },
  });
  const output = [];
  child.stdout.on('data', (chunk) => output.push(chunk));
  child.stderr.on('data', (chunk) => output.push(chunk));
  const end = () => endGroup(child);
  const limit = setTimeout(end, TRY_SECONDS * 1000);
  process.once('exit', end);
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(`npm does not start: ${error.message}`));
    child.once('close', (code, signal) => {
      const said = Buffer.concat(output).toString().trim().split('\n').slice(0, 5).join('\n');
      if (code === 0) resolve(undefined);
      else
        resolve(
          signal === null ? `npm ended with ${code}: ${said}` : `no end after ${TRY_SECONDS} s: ${said}`,
        );
    });
  }).finally(() => {
    clearTimeout(limit);
    process.off('exit', end);
  });
}

function endGroup(child) {
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** npm must not run on the Node that it is about to replace. */
const pathWithout = (root) =>
  (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.startsWith(join(root, 'node_modules')))
    .join(delimiter);

const readJson = (file) => JSON.parse(readFileSync(file, 'utf8'));
const say = (text) => process.stderr.write(`everwarm: ${text}\n`);
