import type { Finding, SourceFile } from './tidy-rules.ts';

/** What can be run: the scripts of package.json, and the help text of `everwarm` and of each of its commands. */
export interface Commands {
  readonly scripts: readonly string[];
  /** The help of a command, '' for everwarm itself; undefined when there is no such command. */
  help(command: string): string | undefined;
}

/** Every command line that a text shows can be typed: the script, the command and its flags exist. */
export function documentedCommands(texts: readonly SourceFile[], commands: Commands): Finding[] {
  return texts.flatMap(({ path, text }) =>
    commandLines(text).flatMap(({ words, line }) => {
      const problem =
        words[0] === 'npm' ? npmProblem(words, commands) : everwarmProblem(words.slice(1), commands);
      return problem === undefined ? [] : [`${path}:${line}: \`${words.join(' ')}\`: ${problem}`];
    }),
  );
}

/** Lines of code blocks and in-line code that begin with npm or everwarm, as words, without comments and pipes. */
function commandLines(text: string): { readonly words: readonly string[]; readonly line: number }[] {
  let isBlock = false;
  return text.split('\n').flatMap((content, index) => {
    if (content.startsWith('```')) isBlock = !isBlock;
    const snippets = isBlock ? [content] : [...content.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
    return snippets
      .map((snippet) => snippet.replace(/^\s*\$?\s*/, '').split(/\s+(?:#|\||>|2>|&&|&)(?:\s|$)/)[0] ?? '')
      .filter((snippet) => /^(?:npm (?:run|start|test|t)\b|everwarm(?: |$))/.test(snippet))
      .map((snippet) => ({ words: snippet.trim().split(/\s+/), line: index + 1 }));
  });
}

function npmProblem(words: readonly string[], commands: Commands): string | undefined {
  const [verb = '', ...rest] = words.slice(1);
  const name = verb === 'run' ? rest.find((word) => !word.startsWith('-')) : verb;
  if (name === undefined || !commands.scripts.includes(name)) {
    return `package.json has no script ${name}; it has ${commands.scripts.join(', ')}`;
  }
  const dashes = words.indexOf('--');
  const args = dashes < 0 ? [] : words.slice(dashes + 1);
  if (name === 'everwarm') return everwarmProblem(args, commands);
  return name === 'start' ? everwarmProblem(['up', ...args], commands) : undefined;
}

function everwarmProblem(args: readonly string[], commands: Commands): string | undefined {
  const command = args[0]?.startsWith('-') === false ? args[0] : '';
  const help = commands.help(command);
  if (help === undefined) return `everwarm has no command ${command}; \`everwarm --help\` lists them`;
  const flags = args.filter((word) => /^--\w/.test(word)).map((word) => word.replace(/[=\]].*$/, ''));
  const missing = flags.find((flag) => !new RegExp(`(?:^|[\\s,])${flag}(?![\\w-])`, 'm').test(help));
  return missing === undefined ? undefined : `\`everwarm ${command}\` has no flag ${missing}`;
}
