/**
 * Builds etcd, kube-apiserver and kube-controller-manager from their Go modules, once for each set of pinned versions.
 * Every clone of the repository on a machine uses the same binaries. As a program it builds what is missing.
 */
import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(new URL('.', import.meta.url));
/** The versions that they are built from; what differs here is another set of binaries. */
const PINS = ['go.mod', 'go.sum', 'tools.go'];
const PACKAGES = {
  etcd: 'go.etcd.io/etcd/server/v3',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
} as const;
const GO_AT_LEAST = '1.26';
/** A download that stalls gets this long and three tries; a build has all it needs on the disk. */
const DOWNLOAD_MS = 600_000;
const BUILD_MS = 1_800_000;
const TRIES = 3;

export type Program = keyof typeof PACKAGES;

/** Where the binaries are, or why there are none. */
export type Binaries =
  | { readonly kind: 'built'; readonly pathOf: (program: Program) => string }
  | { readonly kind: 'missing'; readonly reason: string };

/** The binaries of the pinned versions, if somebody has built them on this machine. */
export function findBinaries(): Binaries {
  const missing = programs().filter((program) => !existsSync(pathOf(program)));
  if (missing.length === 0) return { kind: 'built', pathOf };
  const cure = hasGo('local')
    ? '`npm run real-cluster` builds them in about ten minutes'
    : `building them takes Go ${GO_AT_LEAST} or newer, which is not here`;
  return { kind: 'missing', reason: `no ${missing.join(', ')} of the pinned versions: ${cure}` };
}

/** Builds what is missing, telling on stderr how far it is. */
export async function buildBinaries(): Promise<Binaries> {
  const found = findBinaries();
  // An older Go fetches the one that go.mod asks for.
  if (found.kind === 'built' || !hasGo('auto')) return found;
  mkdirSync(directory(), { recursive: true });
  await go('downloading the modules', DOWNLOAD_MS, ['mod', 'download']);
  const flags = linkerFlags();
  for (const program of programs()) {
    if (existsSync(pathOf(program))) continue;
    // Another clone may build at the same moment: each renames a whole file into place.
    const fresh = `${pathOf(program)}.${process.pid}`;
    const args = ['build', '-buildvcs=false', '-ldflags', flags, '-o', fresh, PACKAGES[program]];
    await go(`building ${program}`, BUILD_MS, args);
    renameSync(fresh, pathOf(program));
  }
  return findBinaries();
}

function programs(): readonly Program[] {
  return Object.keys(PACKAGES) as Program[];
}

function pathOf(program: Program): string {
  return join(directory(), program);
}

function directory(): string {
  const hash = createHash('sha256');
  for (const file of PINS) hash.update(readFileSync(join(HERE, file)));
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'everwarm', 'real-cluster', hash.digest('hex').slice(0, 16));
}

/** Go refuses to work in a folder whose go.mod asks for a newer one than there is, or than it may fetch. */
function hasGo(toolchain: 'local' | 'auto'): boolean {
  const env = { ...process.env, GOTOOLCHAIN: toolchain };
  return spawnSync('go', ['list', '-m'], { cwd: HERE, env }).status === 0;
}

/** What the server says of itself on /version. */
function linkerFlags(): string {
  const [, version = '', minor = ''] =
    /k8s\.io\/kubernetes (v1\.(\d+)\.\d+)/.exec(readFileSync(join(HERE, 'go.mod'), 'utf8')) ?? [];
  const variable = (name: string, value: string) => `-X k8s.io/component-base/version.${name}=${value}`;
  const variables = [variable('gitVersion', version), variable('gitMajor', '1'), variable('gitMinor', minor)];
  return ['-s', '-w', ...variables].join(' ');
}

async function go(what: string, limitMs: number, args: readonly string[]): Promise<void> {
  for (let attempt = 1; attempt <= TRIES; attempt += 1) {
    say(`${what}${attempt === 1 ? '' : ` (try ${attempt} of ${TRIES})`}`);
    if (await run('nice', ['go', ...args], limitMs)) return;
  }
  throw new Error(`${what} failed ${TRIES} times`);
}

function run(command: string, args: readonly string[], timeout: number): Promise<boolean> {
  const child = spawn(command, args, { cwd: HERE, timeout, stdio: ['ignore', 2, 2] });
  return new Promise((resolve) => {
    child.once('error', () => resolve(false));
    child.once('close', (code) => resolve(code === 0));
  });
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

if (import.meta.main) {
  const binaries = await buildBinaries();
  say(binaries.kind === 'built' ? 'the real cluster is built' : binaries.reason);
  if (binaries.kind === 'missing') process.exitCode = 1;
}
