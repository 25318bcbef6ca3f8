import type { ScheduleOptions } from '../../src/simulator/schedule.ts';

/** One change of the source that takes a protection away. `find` must match exactly once. */
export interface Mutant {
  readonly name: string;
  /** What is missing, in words. */
  readonly lacks: string;
  readonly edits: readonly Edit[];
  /** Names of the violations of which one must be the first to show. */
  readonly caughtAs: readonly string[];
  /** The weather in which it shows soonest; any by default. */
  readonly weather?: Weather;
}

/** What is not left to chance in the schedules of a hunt. */
type Weather = NonNullable<ScheduleOptions['weather']>;

export interface Edit {
  /** A file, or a folder of which one file must match. */
  readonly file: string;
  readonly find: string | RegExp;
  readonly replace: string;
}

const POOL = 'src/pool';
const CONTROLLER = 'src/controller';
const PLATFORM = 'src/platform/theia-cloud';

/** Nothing fails by itself, nobody but Everwarm makes instances, two at most are away. */
const CALM: Weather = {
  slots: 3,
  keycloak: false,
  maxUnavailable: 1,
  operatorRuns: false,
  rollsOut: false,
  adopted: true,
  twoPools: false,
  keepsLimits: false,
  readyAfterMs: 50,
  gcLagMs: 1,
  faults: { killBefore: 0, killAfter: 0, lostAnswer: 0, lostRequest: 0, late: 0, throttled: 0 },
};
const ZOMBIES: Weather = {
  ...CALM,
  steps: { begin: 4, work: 12, time: 3, event: 1.5, freeze: 1, thaw: 1 },
  events: { ship: 4, setImage: 2 },
};

/** Somebody comes and goes all the time, and an operator serves them. */
const USERS: Weather = {
  ...CALM,
  slots: 2,
  operatorRuns: true,
  slowness: 5,
  steps: { begin: 4, work: 12, time: 6, event: 3, freeze: 0, thaw: 0 },
  events: { claim: 8, release: 4, retime: 2, foreign: 3, ship: 2, lockOut: 3 },
};

export const NAMED: readonly Mutant[] = [
  {
    name: 'nameOnly',
    lacks: 'deletes carry nothing but a name',
    edits: [
      { file: CONTROLLER, find: /const preconditions = \{ uid,[^;]*;/, replace: 'const preconditions = {};' },
    ],
    caughtAs: ['P5'],
  },
  {
    name: 'uidOnly',
    lacks: 'deletes carry the uid alone, which does not change when a user comes',
    edits: [
      {
        file: CONTROLLER,
        find: /const preconditions = \{ uid,[^;]*;/,
        replace: 'const preconditions = { uid };',
      },
    ],
    caughtAs: ['P5'],
  },
  {
    name: 'noLedger',
    lacks: 'what others announced is not counted, and nothing is touched before it is forgotten',
    edits: [
      {
        file: POOL,
        find: /const announced = ledger\.filter[^;]*;/,
        replace: 'const announced: readonly LedgerEntry[] = [];',
      },
      {
        file: POOL,
        find: 'else if (anchor.uid === entry.anchor && anchor.pass !== entry.pass)',
        replace: 'else if (Number.isNaN(0))',
      },
    ],
    caughtAs: ['S5'],
    weather: {
      ...ZOMBIES,
      slots: 2,
      steps: { begin: 4, work: 12, time: 2, event: 4, freeze: 2, thaw: 2 },
      events: { setImage: 1 },
    },
  },
  {
    name: 'ignoreClaim',
    lacks: 'a slot that a user holds counts as free',
    edits: [
      {
        file: 'src/platform/theia-cloud/instance.ts',
        find: 'const claim = claimOf(view);',
        replace: 'const claim = claimOf(view) && undefined;',
      },
    ],
    caughtAs: ['S1', 'S12'],
  },
  {
    name: 'ensureCapacity',
    lacks: 'what is missing is made, what is stale stays',
    edits: [
      { file: 'src/pool/_draft.ts', find: "if (instance.drift.length > 0) return 'stale';", replace: '' },
    ],
    caughtAs: ['L1', 'S3'],
  },
  {
    name: 'allAtOnce',
    lacks: 'every stale instance is replaced at once',
    edits: [{ file: POOL, find: /return \{ budget: [^;]*;/, replace: 'return { budget: 99, places: 99 };' }],
    caughtAs: ['S5'],
  },
  {
    name: 'noQuietCheck',
    lacks: 'the next pick is written on while a user waits for it',
    edits: [{ file: PLATFORM, find: 'if (!operatorAlive) return true;', replace: 'return true;' }],
    caughtAs: ['P20'],
    weather: {
      ...CALM,
      operatorRuns: true,
      slowness: 5,
      steps: { begin: 4, work: 12, time: 6, event: 3, freeze: 0, thaw: 0 },
      events: { claim: 8, release: 6, ship: 2, retime: 2 },
    },
  },
  {
    name: 'zombieReturn',
    lacks: 'a pass that is going to destroy something does not say so on the anchor before',
    edits: [
      {
        file: 'src/pool/_moves.ts',
        find: /const mine = draft\.ledger[^;]*;/,
        replace: 'const mine = instance.withdrawn !== undefined;',
      },
      {
        file: PLATFORM,
        find: 'return [patch(anchor, annotate(anchor, marks)), ...deletes];',
        replace: 'return deletes;',
      },
    ],
    caughtAs: ['S3', 'P7'],
    weather: ZOMBIES,
  },
  {
    name: 'tornRead',
    lacks: 'Sessions are read before what they hold',
    edits: [
      {
        file: PLATFORM,
        find: '  const services = await reader.list(SERVICES, { namespace });',
        replace:
          '  const early = await readSessions(reader, namespace, []);\n  const services = await reader.list(SERVICES, { namespace });',
      },
      {
        file: PLATFORM,
        find: /const sessions = await readSessions\(reader, namespace, \[[^;]*;/,
        replace: 'const sessions = early;',
      },
    ],
    caughtAs: ['P2'],
  },
  {
    name: 'neverDeadlock',
    lacks: 'a full cluster holds its own cure back',
    edits: [{ file: POOL, find: /const onlyNoRoom =[^;]*;/, replace: 'const onlyNoRoom = false;' }],
    caughtAs: ['L1'],
    weather: { ...CALM, slots: 4, keepsLimits: true, events: { ship: 2, room: 3, scale: 1 } },
  },
  {
    name: 'careTooEarly',
    lacks: 'a user is cared for while the operator is still at it',
    edits: [
      {
        file: 'src/platform/theia-cloud/claims.ts',
        find: "return field(session, 'status', 'operatorStatus') === 'HANDLED' && !isGoing(session);",
        replace: 'return !isGoing(session);',
      },
    ],
    caughtAs: ['S1', 'S2'],
    weather: USERS,
  },
  {
    name: 'careForStrangers',
    lacks: "somebody else's object under a name of a user's instance is taken for the user's",
    edits: [
      {
        file: 'src/platform/theia-cloud/care.ts',
        find: /return lords\.some[^;]*;/,
        replace: 'return lords.length > 0;',
      },
    ],
    caughtAs: ['S8'],
    weather: USERS,
  },
  {
    name: 'wrongGuest',
    lacks: 'the list of a user is restored, but not to the user',
    edits: [
      {
        file: 'src/platform/theia-cloud/_heal.ts',
        find: 'admit(part, gift.allowList)',
        replace: "admit(part, 'nobody@example.org')",
      },
    ],
    caughtAs: ['S1'],
    weather: { ...USERS, keycloak: true, rollsOut: true },
  },
  {
    name: 'ownsTheAnchorAway',
    lacks: 'letting go of an instance in use takes the first owner off, whoever that is',
    edits: [
      {
        file: 'src/platform/theia-cloud/_heal.ts',
        find: /\{ op: 'remove', path: `\/metadata\/ownerReferences\/\$\{at\}` \},/,
        replace: "{ op: 'remove', path: '/metadata/ownerReferences/0' },",
      },
    ],
    caughtAs: ['P19'],
    weather: { ...USERS, events: { claim: 8, mode: 4 } },
  },
];

/** One mutant for each guard of each request in `text`: a `test`, a uid or a resourceVersion that is left out. */
export function guardMutants(file: string, text: string): readonly Mutant[] {
  const mutants: Mutant[] = [];
  const add = (at: number, length: number, lacks: string) => {
    const line = text.slice(0, at).split('\n').length;
    mutants.push({
      name: `${file.split('/').at(-1)}:${line} ${lacks}`,
      lacks,
      edits: [{ file, find: text, replace: text.slice(0, at) + text.slice(at + length) }],
      caughtAs: ['P5', 'P19'],
    });
  };
  for (const found of text.matchAll(/\{ op: 'test'[^}]*\},\s*/g)) add(found.index, found[0].length, 'test');
  for (const literal of text.matchAll(/\{[^{}]*verb: '(?:delete|patch)'[^{}]*\}/g)) {
    // No pool of the random schedules has a volume: test/controller/guard.test.ts holds the guards of its deletion.
    if (literal[0].includes('ownedBy')) continue;
    const guards = literal[0].matchAll(/\b(uid|resourceVersion)(?:: [\w.]+)?,\s*/g);
    for (const guard of guards) add(literal.index + guard.index, guard[0].length, guard[1] ?? '');
  }
  return mutants;
}
