/**
 * Lays out the build context of the container image: the sources as JavaScript (a pod should not pay for reading types), the
 * packages they run with and the Dockerfile.
 * `node bin/run.mjs infra/image/context.ts [FOLDER]`; the folder is emptied first.
 */
import { copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const FOLDER = 'node_modules/.cache/everwarm/image';
/** What the commands import; the cloud functions bring their own. */
const PACKAGES = [
  '@kubernetes/client-node',
  '@marcbachmann/cel-js',
  'commander',
  'js-yaml',
  'prom-client',
  'zod',
];

interface Locked {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const folder = resolve(process.argv[2] ?? join(ROOT, FOLDER));
const target = join(folder, 'everwarm');
rmSync(folder, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
copyFileSync(fileURLToPath(new URL('Dockerfile', import.meta.url)), join(folder, 'Dockerfile'));
plain('src');
copyFileSync(join(ROOT, 'LICENSE'), join(target, 'LICENSE'));
writeFileSync(join(target, 'package.json'), manifest());
for (const path of closure()) {
  mkdirSync(dirname(join(target, path)), { recursive: true });
  // Packages below it are asked for by name, if they are asked for at all.
  cpSync(join(ROOT, path), join(target, path), {
    recursive: true,
    filter: (source) => source === join(ROOT, path) || !source.startsWith(join(ROOT, path, 'node_modules')),
  });
}
process.stderr.write(
  `everwarm: ${folder} is ready: docker build -t everwarm:${read('package.json').version} ${folder}\n`,
);

/** Copies a folder, its TypeScript with the types blanked out: lines and columns stay what they are in the sources. */
function plain(path: string): void {
  for (const { name, parentPath } of readdirSync(join(ROOT, path), {
    recursive: true,
    withFileTypes: true,
  }).filter((entry) => entry.isFile())) {
    const from = join(parentPath, name);
    const to = join(target, relative(ROOT, from));
    mkdirSync(dirname(to), { recursive: true });
    if (!name.endsWith('.ts')) copyFileSync(from, to);
    else writeFileSync(to.replace(/\.ts$/, '.js'), asJavaScript(readFileSync(from, 'utf8')));
  }
}

/** Relative imports name the file on the disk, which is now another one. */
function asJavaScript(text: string): string {
  return stripTypeScriptTypes(text).replace(
    /((?:\bfrom|\bimport)\s*\(?\s*)(['"])(\.{1,2}\/[^'"]+)\.ts\2/g,
    '$1$2$3.js$2',
  );
}

/** Name and version, for the command's own use; nothing of how it is built. */
function manifest(): string {
  const { name, version, license, type } = read('package.json');
  return `${JSON.stringify({ name, version, license, type, private: true }, null, 2)}\n`;
}

/** The folders of PACKAGES and of all that they depend on, as the lock file has them. */
function closure(): readonly string[] {
  const locked: Readonly<Record<string, Locked>> = read('package-lock.json').packages;
  const found = new Set<string>();
  const waiting = PACKAGES.map((name) => ({ name, from: '' }));
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const path = placeOf(next, locked);
    if (path === undefined || found.has(path)) continue;
    found.add(path);
    const { dependencies = {}, optionalDependencies = {} } = locked[path] ?? {};
    const from = path;
    waiting.push(
      ...Object.keys({ ...dependencies, ...optionalDependencies }).map((name) => ({ name, from })),
    );
  }
  return [...found].sort();
}

/** Where Node finds a package from: beside its user, or further up. */
function placeOf(
  { name, from }: { readonly name: string; readonly from: string },
  locked: Readonly<Record<string, Locked>>,
): string | undefined {
  for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
    const path = base === '' ? `node_modules/${name}` : `${base}/node_modules/${name}`;
    if (path in locked) return path;
    if (base === '') return undefined;
  }
}

function read(file: string) {
  return JSON.parse(readFileSync(join(ROOT, file), 'utf8'));
}
