import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../src/cli/program.ts';
import { seededRandom, systemClock } from '../src/clock.ts';
import { type Commands, documentedCommands } from './tidy-commands.ts';
import {
  clockAndChance,
  importTable,
  ownStory,
  reachable,
  rootTexts,
  type SourceFile,
  trapWords,
} from './tidy-rules.ts';
import { maskTypeScript } from './typescript-mask.ts';

const files: readonly SourceFile[] = globSync(
  [
    '*.{md,txt,ts,json}',
    '{src,test,functions,infra,bin,docs}/**/*.{ts,mjs,md,json,yml,yaml,sh}',
    '.ci/*',
    '.github/**/*.yml',
  ],
  { exclude: ['**/fixtures/**', 'package-lock.json', '**/node_modules/**'] },
).map((path) => ({ path: path.replaceAll('\\', '/'), text: readFileSync(path, 'utf8') }));

const file = (path: string, text = ''): SourceFile => ({ path, text });

describe('the folders of src know of each other only what the import table allows', () => {
  it('in this repository', () => {
    expect(importTable(files)).toEqual([]);
  });

  it.each([
    ['src/pool/plan.ts', "import { ready } from '../kube/api.ts';", 'pool may import nothing of ours'],
    ['src/pool/plan.ts', "import type { Clock } from '../clock.ts';", 'pool may import nothing of ours'],
    ['src/pool/plan.ts', "import { readFileSync } from 'node:fs';", 'the planner is pure'],
    [
      'src/kube/client.ts',
      "import {\n  key,\n} from '../pool/key.ts';",
      'src/kube/client.ts:3: kube imports ../pool/key.ts',
    ],
    ['src/embedded/store.ts', "import { get } from '../kube/client.ts';", 'embedded may import kube:type'],
    ['src/controller/act.ts', "export { up } from '../cli/main.ts';", 'controller may import pool, platform'],
    ['src/transport/notice.ts', "await import('../forwarder/main.ts');", 'transport may import pool'],
    ['src/telemetry/log.ts', "import '../app.ts';", 'telemetry may import clock, errors'],
    ['functions/ingest.ts', "import { planPool } from '../src/pool/plan.ts';", 'functions may import app'],
  ])('refuses in %s: %j', (path, text, problem) => {
    expect(importTable([file(path, text)])).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ['src/pool/plan.ts', "import { assert } from 'node:assert';\nimport type { Slot } from './types.ts';"],
    ['src/embedded/store.ts', "import type { KubeObject } from '../kube/api.ts';"],
    [
      'src/kube/client.ts',
      "import { systemClock } from '../clock.ts';\nimport { log } from '../telemetry/log.ts';",
    ],
    [
      'src/platform/theia-cloud/observe.ts',
      "import { key } from '../../pool/key.ts';\nimport { a } from '../platform.ts';",
    ],
    ['src/kube/client.ts', "// import { a } from '../pool/key.ts'\nconst b = `import '../pool/key.ts'`;"],
    ['src/app.ts', "import { up } from './controller/reconcile.ts';"],
  ])('allows in %s: %j', (path, text) => {
    expect(importTable([file(path, text)])).toEqual([]);
  });
});

describe('time and chance are arguments', () => {
  it('in this repository', () => {
    expect(clockAndChance(files)).toEqual([]);
  });

  it.each([
    'const now = Date.now();',
    'const now = new Date();',
    'const now = new Date;',
    'const die = Math.random();',
    'setTimeout(run, 5);',
    'globalThis.setInterval(run, 5);',
    'const started = performance.now();',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample is code inside a template literal
    'const id = `at ${Date.now()} o’clock`;',
  ])('refuses %j', (text) => {
    expect(clockAndChance([file('src/kube/a.ts', `\n${text}`)])).toEqual([
      expect.stringMatching(/^src\/kube\/a\.ts:2: .*take a Clock or Random/),
    ]);
  });

  it.each([
    ['src/clock.ts', 'Date.now();'],
    ['test/a.test.ts', 'Date.now();'],
    ['src/kube/a.ts', 'new Date(clock.now()).toISOString();'],
    ['src/kube/a.ts', 'socket.setTimeout(5);'],
    ['src/kube/a.ts', '// unlike Date.now() it is told'],
    ['src/kube/a.ts', "const text = 'Date.now()';"],
    ['src/kube/a.ts', 'const pattern = /[/]Date.now()/;'],
  ])('allows in %s: %j', (path, text) => {
    expect(clockAndChance([file(path, text)])).toEqual([]);
  });
});

describe('the core says no word that two platforms understand differently', () => {
  it('in this repository', () => {
    expect(trapWords(files)).toEqual([]);
  });

  it.each([
    ['const reserved = 1;', 'say claimed'],
    ['const userSession = 1;', 'say claim'],
    ['const sessionUid = 1;', 'say claim'],
    ['const appGeneration = 1;', 'say revision'],
    ['// how many workspaces', 'say what it is'],
    ['const Environment = 1;', 'say instance'],
    ['const SESSIONS_MAX = 1;', 'say claim'],
    ["const reason = 'capacity';", 'say replicas'],
  ])('refuses %j', (text, problem) => {
    expect(trapWords([file('src/pool/a.ts', text)])).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    ['src/pool/a.ts', 'const seen = metadata.generation ?? status.observedGeneration;'],
    ['src/pool/a.ts', "const policy: 'fields' | 'generation' = 'fields';"],
    ['src/pool/a.ts', '// an obsession'],
    ['src/platform/theia-cloud/a.ts', 'const session = 1;'],
  ])('allows in %s: %j', (path, text) => {
    expect(trapWords([file(path, text)])).toEqual([]);
  });
});

describe('every file of src is reached from a command or a function', () => {
  it('in this repository', () => {
    expect(reachable(files)).toEqual([]);
  });

  it('finds the file that only its own test imports, and the two that only import each other', () => {
    const product = [
      file('src/cli/main.ts', "import('../app.ts');"),
      file('src/app.ts', "import type { Slot } from './pool/slot.ts';"),
      file('src/pool/slot.ts'),
      file('src/pool/dead.ts', "import { twin } from './twin.ts';"),
      file('src/pool/twin.ts', "import { dead } from './dead.ts';"),
      file('test/pool/dead.test.ts', "import { dead } from '../../src/pool/dead.ts';"),
    ];
    expect(reachable(product)).toEqual([
      expect.stringContaining('src/pool/dead.ts:1'),
      expect.stringContaining('src/pool/twin.ts:1'),
    ]);
  });
});

describe('the texts speak of the product', () => {
  it('in this repository', () => {
    expect([...ownStory(files), ...rootTexts(files)]).toEqual([]);
  });

  it.each([
    '// written by an AI',
    '// see issue B',
    '// TODO: later',
    '// formerly in plan.ts',
    '// as requested',
  ])('refuses %j', (text) => {
    expect(ownStory([file('src/pool/a.ts', `\n${text}`)])).toEqual([
      expect.stringContaining('src/pool/a.ts:2'),
    ]);
  });

  it.each(['// TODO(#12): pages', '// CONTAINER, MAIL and FAIL', '// the issue is the clock'])(
    'allows %s',
    (text) => {
      expect(ownStory([file('src/pool/a.ts', text)])).toEqual([]);
    },
  );

  it('refuses notes beside the README', () => {
    expect(rootTexts([file('README.md'), file('NOTES.md'), file('docs/faq.md')])).toEqual([
      expect.stringContaining('NOTES.md:1'),
    ]);
  });
});

describe('every command in the texts can be typed', () => {
  const helps = new Map<string, string>();
  const commands: Commands = {
    scripts: Object.keys(JSON.parse(readFileSync('package.json', 'utf8')).scripts),
    help: (command) => helps.get(command),
  };

  async function helpOf(args: readonly string[]): Promise<string> {
    const lines: string[] = [];
    await runProgram([...args, '--help'], {
      config: {
        kubeconfig: '',
        service: { host: undefined, port: undefined },
        settings: undefined,
        forward: {},
        color: false,
      },
      clock: systemClock,
      random: seededRandom(1),
      print: (line) => lines.push(line),
      complain: () => {},
      hasColor: false,
      width: undefined,
      signal: new AbortController().signal,
    });
    return lines.join('\n');
  }

  beforeAll(async () => {
    helps.set('', await helpOf([]));
    for (const [, name = ''] of (helps.get('') ?? '').matchAll(/^ {2}([a-z][a-z-]*) /gm)) {
      helps.set(name, await helpOf([name]));
    }
  });

  it('in this repository', () => {
    const texts = files.filter(({ path }) => /^(?:[^/]+|docs\/.*)\.md$/.test(path));
    expect(documentedCommands(texts, commands)).toEqual([]);
  });

  const sample: Commands = {
    scripts: ['start', 'test', 'everwarm', 'check'],
    help: (command) => ({ '': '--help', up: '  --world <name>\n  --json  lines', status: '--json' })[command],
  };

  it.each([
    ['`npm run chekc`', 'package.json has no script chekc; it has start, test, everwarm, check'],
    ['`everwarm stauts`', 'everwarm has no command stauts'],
    ['```\n$ npm start -- --wrold demo # it\n```', '`everwarm up` has no flag --wrold'],
    ['`npm run -s everwarm -- status --js`', '`everwarm status` has no flag --js'],
  ])('refuses %j', (text, problem) => {
    expect(documentedCommands([file('README.md', text)], sample)).toEqual([expect.stringContaining(problem)]);
  });

  it.each([
    '`npm run check`, `npm test` and `npm run -s everwarm -- --help`',
    '```sh\nnpm start -- --world demo --json | jq .  # --not-a-flag\n```',
    '`everwarm up [--world demo] [--json]` and everwarm nonsense outside of code',
    '`npm install`',
  ])('allows %j', (text) => {
    expect(documentedCommands([file('README.md', text)], sample)).toEqual([]);
  });
});

describe('the mask that the rules look through', () => {
  it.each([
    ['a / b / Date', 'a / b / Date'],
    ['x = /"/; y = "1"', 'x =    ; y =    '],
    ["// it's\nz", '       \nz'],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the sample is code inside a template literal
    ['`a ${ {b: `c`} } d` + e', '      {b:    }      + e'],
    ["'a\\'b' + c", '       + c'],
    ['/* a\n b */ c', '    \n      c'],
  ])('%j becomes %j', (text, masked) => {
    expect(maskTypeScript(text)).toBe(masked);
  });
});
