/**
 * The same text, with comments, regular expressions and (unless kept) the insides of strings blanked out; line
 * numbers and columns stay. Code inside `${…}` is code.
 */
export function maskTypeScript(text: string, { keepStrings = false } = {}): string {
  let masked = '';
  /** For every open template literal, how many braces are open inside its `${`. */
  const templates: number[] = [];
  for (let at = 0; at < text.length; ) {
    const token = tokenAt(text, at, masked, templates);
    masked += token.isCode || (keepStrings && token.isString) ? token.text : blank(token.text);
    at += token.text.length;
  }
  return masked;
}

interface Token {
  readonly text: string;
  readonly isCode?: boolean;
  readonly isString?: boolean;
}

const COMMENT = /\/\/.*|\/\*[\s\S]*?(?:\*\/|$)/y;
const STRING = /'(?:\\[\s\S]|[^'\\\n])*'|"(?:\\[\s\S]|[^"\\\n])*"/y;
const TEMPLATE = /(?:\\[\s\S]|(?!\$\{)[^`\\])*(?:`|\$\{|$)/y;
const REGEX = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\[\n])+\/[a-z]*/y;
/** A slash after one of these starts a regular expression; after a value it divides. */
const BEFORE_REGEX = /(?:^|[(,=:[!&|?{};+\-*%<>~^]|\b(?:return|typeof|case|of|in|await))\s*$/;

function tokenAt(text: string, at: number, before: string, templates: number[]): Token {
  const start = text[at] as string;
  const comment = take(COMMENT, text, at);
  if (comment !== undefined) return { text: comment };
  const string = start === "'" || start === '"' ? take(STRING, text, at) : undefined;
  if (string !== undefined) return { text: string, isString: true };
  if (start === '`') return template(text, at, templates);
  if (start === '/' && BEFORE_REGEX.test(before.slice(-40))) return { text: take(REGEX, text, at) ?? start };

  const braces = templates.at(-1);
  if (braces === 0 && start === '}') {
    templates.pop();
    return template(text, at, templates);
  }
  if (braces !== undefined && start === '{') templates[templates.length - 1] = braces + 1;
  if (braces !== undefined && start === '}') templates[templates.length - 1] = braces - 1;
  return { text: start, isCode: true };
}

/** From a back-tick or the end of a `${…}` up to the literal's end or its next `${`. */
function template(text: string, at: number, templates: number[]): Token {
  const body = take(TEMPLATE, text, at + 1) ?? '';
  if (body.endsWith('${')) templates.push(0);
  return { text: text[at] + body };
}

function take(pattern: RegExp, text: string, at: number): string | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0];
}

const blank = (text: string) => text.replace(/[^\n]/g, ' ');
