import { nameProblem, valueProblems } from './schema/names.ts';
import { badRequest, type StatusError } from './status.ts';

type Labels = Readonly<Record<string, string>>;
/** One demand on an object's labels. */
type Requirement = (labels: Labels) => boolean;

/** Reads a label selector (`a=b,c!=d,e in (f,g),h,!i`) as the server does; 400, in its words, for what is none. */
export function parseLabelSelector(text: string): readonly Requirement[] {
  return new Parser(text).selector();
}

const TOKEN = /\s*(?:(==|!=|[=!(),<>])|([^\s=!(),<>]+))/y;
const OPERATORS = ['in', 'notin', '=', '==', '!=', 'gt', 'lt'];

class Parser {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(text: string) {
    this.#tokens = tokensOf(text);
  }

  selector(): readonly Requirement[] {
    const requirements: Requirement[] = [];
    if (this.#next() === '') return requirements;
    if (!this.#begins()) throw badRequest(found(this.#next(), "!, identifier, or 'end of string'"));
    for (;;) {
      requirements.push(this.#requirement());
      const separator = this.#take();
      if (separator === '') return requirements;
      if (separator !== ',') throw badRequest(found(separator, "',' or 'end of string'"));
      if (!this.#begins()) throw badRequest(found(this.#next(), "identifier after ','"));
    }
  }

  #next(): string {
    return this.#tokens[this.#at] ?? '';
  }

  #take(): string {
    const token = this.#next();
    this.#at += 1;
    return token;
  }

  #begins(): boolean {
    return this.#next() === '!' || isIdentifier(this.#next());
  }

  #requirement(): Requirement {
    const absent = this.#next() === '!';
    if (absent) this.#take();
    const key = this.#take();
    if (!isIdentifier(key)) throw unparsable(found(key, 'identifier'));
    const problem = nameProblem(key);
    if (problem !== undefined) throw unparsable(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problem}`);
    if (absent) return (labels) => !Object.hasOwn(labels, key);
    if (this.#next() === '' || this.#next() === ',') return (labels) => Object.hasOwn(labels, key);
    return this.#comparison(key);
  }

  #comparison(key: string): Requirement {
    const operator = this.#take();
    switch (operator) {
      case '=':
      case '==': {
        const value = this.#value(key);
        return (labels) => labels[key] === value;
      }
      case '!=': {
        const value = this.#value(key);
        return (labels) => labels[key] !== value;
      }
      case 'in':
      case 'notin': {
        const values = this.#values(key);
        return (labels) => {
          const value = labels[key];
          return (value !== undefined && values.has(value)) === (operator === 'in');
        };
      }
      default:
        throw unparsable(found(operator, OPERATORS.join(', ')));
    }
  }

  #value(key: string): string {
    if (this.#next() === '' || this.#next() === ',') return '';
    const value = this.#take();
    if (!isIdentifier(value)) throw unparsable(found(value, 'identifier'));
    return checkedValue(key, 0, value);
  }

  #values(key: string): ReadonlySet<string> {
    const opening = this.#take();
    if (opening !== '(') throw unparsable(`found '${opening}' expected: '('`);
    const values: string[] = [];
    for (;;) {
      const token = this.#take();
      if (isIdentifier(token)) values.push(token);
      else if (token === ')') break;
      else if (token !== ',') {
        throw unparsable(found(token, values.length > 0 ? "',' or ')'" : "',', ')' or identifier"));
      }
    }
    return new Set(values.map((value, index) => checkedValue(key, index, value)));
  }
}

function tokensOf(text: string): readonly string[] {
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) {
    tokens.push(match[1] ?? match[2] ?? '');
  }
  return tokens;
}

function isIdentifier(token: string): boolean {
  return token !== '' && !/^(?:==|[=!(),<>]|!=)/.test(token);
}

function checkedValue(key: string, index: number, value: string): string {
  const [problem] = valueProblems(value);
  if (problem === undefined) return value;
  throw unparsable(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
}

function found(token: string, expected: string): string {
  return `found '${token}', expected: ${expected}`;
}

function unparsable(problem: string): StatusError {
  return badRequest(`unable to parse requirement: ${problem}`);
}
