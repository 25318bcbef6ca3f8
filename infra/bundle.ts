/** Makes the functions' zips: one bundle each, the same bytes for the same sources. */
import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { ZipFile } from 'yazl';
import { readClustersFile } from '../src/app/functions/clusters-file.ts';
import { createClusterRegistry } from '../src/app/functions/registry.ts';
import { systemClock, systemRandom } from '../src/clock.ts';

/** One function's zip. */
export interface Artifact {
  readonly name: string;
  readonly file: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface BundleOptions {
  /** The clusters that the functions serve. */
  readonly clustersFile: string;
  /** Where the zips and, beside them, the source maps go. */
  readonly directory: string;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** The oldest moment that a zip can hold, on every machine. */
const MTIME = new Date(Date.UTC(1980, 0, 1, 12));
/** What some packages inside an ESM bundle still ask for. */
const BANNER = "import{createRequire}from'node:module';const require=createRequire(import.meta.url);";

/**
 * Bundles every function. Rejects, naming file and field, when the clusters' file cannot be used: better here than in the
 * cloud.
 */
export async function bundleFunctions({
  clustersFile,
  directory,
}: BundleOptions): Promise<readonly Artifact[]> {
  checkClusters(clustersFile);
  const clusters = await readFile(clustersFile);
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { recursive: true });
  const files = (await readdir(join(ROOT, 'functions')))
    .filter((file) => /^[a-z][\w-]*\.ts$/.test(file))
    .sort();
  const artifacts: Artifact[] = [];
  for (const file of files) {
    const name = basename(file, '.ts');
    const { code, map } = await bundle(file);
    await writeFile(join(directory, `${name}.mjs.map`), map);
    artifacts.push(
      await zip(name, join(directory, `${name}.zip`), { 'index.mjs': code, 'clusters.json': clusters }),
    );
  }
  return artifacts;
}

/** As the functions do at their start. */
function checkClusters(file: string): void {
  const nobody = (): Promise<never> => Promise.reject(new Error('nothing is asked for here'));
  createClusterRegistry({
    file,
    clusters: readClustersFile(file),
    clock: systemClock,
    random: systemRandom,
    readSecret: nobody,
    credentials: nobody,
  });
}

async function bundle(file: string): Promise<{ readonly code: Uint8Array; readonly map: Uint8Array }> {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [join('functions', file)],
    outfile: 'index.mjs',
    write: false,
    bundle: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
    minify: true,
    legalComments: 'none',
    sourcemap: 'external',
    sourcesContent: false,
    banner: { js: BANNER },
    logLevel: 'warning',
  });
  const find = (end: string): Uint8Array => {
    const found = outputFiles.find(({ path }) => path.endsWith(end));
    if (found === undefined) throw new Error(`esbuild made no ${end} of ${file}`);
    return found.contents;
  };
  return { code: find('.mjs'), map: find('.map') };
}

async function zip(
  name: string,
  file: string,
  entries: Readonly<Record<string, Uint8Array>>,
): Promise<Artifact> {
  const archive = new ZipFile();
  for (const [path, content] of Object.entries(entries)) {
    archive.addBuffer(Buffer.from(content), path, { mtime: MTIME, mode: 0o100644, compressionLevel: 9 });
  }
  archive.end();
  await pipeline(archive.outputStream, createWriteStream(file));
  const bytes = await readFile(file);
  return { name, file, bytes: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') };
}
