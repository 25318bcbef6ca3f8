import { posix } from 'node:path';
import { maskTypeScript } from './typescript-mask.ts';

/** A text file of the repository, by its path from the root. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What breaks a rule: `file:line: what, and how to mend it`. */
export type Finding = string;

/** Every import that crosses from one folder of src to another, against the table of who may know whom. */
export function importTable(files: readonly SourceFile[]): Finding[] {
  return productFiles(files).flatMap((file) => {
    const from = roomOf(file.path);
    return importsOf(file).flatMap((found) => {
      const mend = found.specifier.startsWith('.') ? foreign(from, file, found) : impure(from, found);
      return mend === undefined
        ? []
        : [`${file.path}:${found.line}: ${from} imports ${found.specifier}: ${mend}`];
    });
  });
}

const FOR_ALL = ['clock', 'errors', 'telemetry'];
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  clock: [],
  errors: [],
  telemetry: [],
  pool: [],
  kube: [],
  platform: ['pool', 'kube'],
  transport: ['pool'],
  controller: ['pool', 'platform', 'transport', 'kube'],
  forwarder: ['transport', 'platform', 'kube', 'pool'],
  embedded: ['kube:type'],
  simulator: ['embedded', 'pool', 'controller', 'platform', 'kube'],
  cli: ['app', 'config'],
  functions: ['app', 'config'],
};

function foreign(from: string, file: SourceFile, { specifier, isType }: Import): string | undefined {
  const to = roomOf(resolved(file, specifier));
  const room = ROOMS[from];
  if (to === from || room === undefined) return undefined;
  const allowed = from === 'pool' ? room : [...room, ...FOR_ALL];
  if (allowed.includes(to) || (isType && allowed.includes(`${to}:type`))) return undefined;
  return `${from} may import ${allowed.join(', ') || 'nothing of ours'}; hand it in as an argument or move the code`;
}

/** The planner does no I/O: of all packages it may use only what computes. */
const PURE_MODULES = ['node:assert', 'node:assert/strict', 'node:crypto', 'node:util'];

function impure(from: string, { specifier }: Import): string | undefined {
  if (from !== 'pool' || PURE_MODULES.includes(specifier)) return undefined;
  return 'the planner is pure; do this in the controller or a platform';
}

/** The machine's time and chance are asked for in src/clock.ts alone. */
export function clockAndChance(files: readonly SourceFile[]): Finding[] {
  return productFiles(files)
    .filter(({ path }) => path !== 'src/clock.ts')
    .flatMap((file) =>
      matches(file.path, maskTypeScript(file.text), AMBIENT).map(
        ({ at, found }) => `${at}: ${found}: take a Clock or Random of src/clock.ts as an argument`,
      ),
    );
}

// A socket's own setTimeout is something else; a Date of a given instant asks nobody.
const AMBIENT =
  /\b(?:Date\.now|Math\.random|performance\.now|process\.hrtime)\b|new Date(?:\(\s*\)|(?![\w(]))|(?:(?<![.\w#])|\bglobalThis\.)(?:setTimeout|setInterval)\b(?=\()/g;

/** Words that mean opposite things on two platforms stay out of the core, in code and in comments. */
export function trapWords(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => /^src\/(pool|controller)\//.test(path))
    .flatMap((file) => matches(file.path, withoutKubernetesCounters(file.text), TRAP))
    .map(
      ({ at, found }) =>
        `${at}: "${found}" means different things on different platforms: ${SAY[found.toLowerCase().replace(/s$/, '')]}`,
    );
}

const SAY: Readonly<Record<string, string>> = {
  reserved: 'say claimed, or ready',
  capacity: 'say replicas',
  generation: 'say revision (only metadata.generation and observedGeneration are allowed)',
  environment: 'say instance',
  session: 'say claim, or claimedBy',
  workspace: 'say what it is, inside the platform folder',
};
/** As a word, or as a hump of a camelCase name: `sessionUid`, `userSession`, but not `obsession`. */
const TRAP = new RegExp(
  Object.keys(SAY)
    .flatMap((word) => {
      const capitalised = `${word[0]?.toUpperCase()}${word.slice(1)}`;
      return [
        `(?<![A-Za-z])${word}s?(?![a-z])`,
        `${capitalised}s?(?![a-z])`,
        `(?<![A-Z])${word.toUpperCase()}S?(?![A-Z])`,
      ];
    })
    .join('|'),
  'g',
);

/** Kubernetes' own counters, and the policy of that name in a WarmPool's spec. */
const withoutKubernetesCounters = (text: string) =>
  text.replace(/metadata\??\.generation|observedGeneration|'generation'/g, (found) =>
    '-'.repeat(found.length),
  );

/** Every file of src is reached from a command or a function: what only its test imports is dead. */
export function reachable(files: readonly SourceFile[]): Finding[] {
  const product = new Map(productFiles(files).map((file) => [file.path, file]));
  const waiting = [...product.keys()].filter(
    (path) => path === 'src/cli/main.ts' || path.startsWith('functions/'),
  );
  const reached = new Set(waiting);
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    const file = product.get(path);
    for (const { specifier } of file === undefined ? [] : importsOf(file)) {
      const next = file === undefined ? '' : resolved(file, specifier);
      if (!specifier.startsWith('.') || reached.has(next)) continue;
      reached.add(next);
      waiting.push(next);
    }
  }
  return [...product.keys()]
    .filter((path) => !reached.has(path))
    .map((path) => `${path}:1: reached from no command and no function: use it or delete it`);
}

/** The text speaks of the product, not of how it came about. */
export function ownStory(files: readonly SourceFile[]): Finding[] {
  return files
    .filter(({ path }) => !path.startsWith('test/tidy'))
    .flatMap(({ path, text }) => matches(path, text, STORY))
    .map(({ at, found }) => `${at}: "${found}" tells how the text came about: say what is, and why`);
}

const STORY = new RegExp(
  [
    String.raw`\b(?:AI|LLM|GPT|Claude|Copilot|chatbot|AI-generated)\b`,
    String.raw`\b[Ii]ssue [A-F]\b`,
    String.raw`\b(?:as requested|per (?:the )?review|in this session|formerly|was renamed|has been refactored)\b`,
    String.raw`\b(?:TODO|FIXME|XXX)\b(?!\s*\(?#\d)`,
    String.raw`\b[Ww]ork in progress\b`,
  ].join('|'),
  'g',
);

/** The texts at the root are a closed list: notes and plans belong into the issue tracker. */
export function rootTexts(files: readonly SourceFile[]): Finding[] {
  const known = ['README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', 'CHANGELOG.md'];
  return files
    .filter(({ path }) => /^[^/]+\.(?:md|txt)$/.test(path) && !known.includes(path))
    .map(({ path }) => `${path}:1: not one of ${known.join(', ')}: move it into one of them or delete it`);
}

const productFiles = (files: readonly SourceFile[]) =>
  files.filter(({ path }) => /^(src|functions)\/.*\.ts$/.test(path));

/** `src/pool/plan.ts` is in `pool`, `src/clock.ts` in `clock`, `functions/ingest.ts` in `functions`. */
function roomOf(path: string): string {
  const [top = '', room = ''] = path.split('/');
  return top === 'src' ? room.replace(/\.ts$/, '') : top;
}

const resolved = ({ path }: SourceFile, specifier: string) => posix.join(posix.dirname(path), specifier);

interface Import {
  readonly specifier: string;
  readonly line: number;
  readonly isType: boolean;
}

function importsOf({ text }: SourceFile): Import[] {
  const code = maskTypeScript(text, { keepStrings: true });
  const statements =
    /^\s*(?:import|export)\s(?<head>[^'";]*?)\bfrom\s*['"](?<from>[^'"]+)['"]|\bimport\s*\(?\s*['"](?<bare>[^'"]+)['"]/gm;
  return [...code.matchAll(statements)].map((match) => ({
    specifier: match.groups?.['from'] ?? match.groups?.['bare'] ?? '',
    line: lineAt(code, match.index + match[0].length - 1),
    isType: /^type\b/.test(match.groups?.['head'] ?? ''),
  }));
}

function matches(path: string, text: string, pattern: RegExp) {
  return [...text.matchAll(pattern)].map(({ index, 0: found }) => ({
    at: `${path}:${lineAt(text, index)}`,
    found,
  }));
}

const lineAt = (text: string, index: number) => text.slice(0, index).split('\n').length;
