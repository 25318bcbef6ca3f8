import type { Forecast, Progress } from '../app/release.ts';
import type { Tell } from '../app/story.ts';
import { type Cli, printJson } from './cli.ts';
import { createPaint, wrap } from './render.ts';
import { createTimeline } from './timeline.ts';

/** Says how a release goes, to people or to tools. */
export interface ReleaseTeller {
  forecast(expected: Forecast): void;
  /** No operator runs, so that there is nothing to be kept from. */
  needless(pool: string, isChanged: boolean): void;
  prepared(progress: Progress, waitsForPerson: boolean): void;
  changed(progress: Progress): void;
  handedOut(progress: Progress): void;
  expired(progress: Progress): void;
  calledOff(pool: string, isOver: boolean): void;
  readonly tell: Tell;
}

/** Everything that is said goes to standard output: sentences, or lines of type `Release`. */
export function createReleaseTeller(cli: Cli, json: boolean): ReleaseTeller {
  const say = (phase: string, fields: object, ...sentences: readonly string[]): void => {
    if (json) printJson(cli, 'Release', { phase, ...fields });
    else for (const text of sentences) for (const line of wrap(text, cli.width, '  ')) cli.print(line);
  };
  const paint = createPaint(cli.hasColor);
  const timeline = createTimeline(cli);
  return {
    forecast: (expected) => say('forecast', expected, ...forecastIn(expected)),
    needless: (pool, isChanged) =>
      say(
        'needless',
        { pool },
        `No operator runs, so nothing is replaced at once and nothing needs to be prepared: ${isChanged ? 'the image is set' : 'change the definition when you like'}.`,
      ),
    prepared: (progress, waitsForPerson) =>
      say(
        'prepared',
        progress,
        `${paint('Prepared', 'bold')}: ${progress.kept} of ${progress.unclaimed} unclaimed instances are out of the operator's reach.`,
        waitsForPerson
          ? `${paint('Change the AppDefinition now', 'bold')} (helm upgrade, kubectl apply). If it has not changed by ${progress.until}, all are handed out again. Ctrl-C calls it off.`
          : 'Setting the image.',
      ),
    changed: (progress) =>
      say(
        'changed',
        progress,
        `The definition has changed: ${progress.image}. The operator has 5 s to come to it; then all are handed out again.`,
      ),
    handedOut: (progress) =>
      say(
        'handedOut',
        progress,
        `${paint('Handed out again', 'bold')}: ${coldStartsIn(progress)} in between. The roll-out goes on a few at a time: everwarm status.`,
      ),
    expired: (progress) =>
      say(
        'over',
        progress,
        'The definition has not changed in time (or the release was called off): all are handed out again.',
      ),
    calledOff: (pool, isOver) =>
      say(
        'calledOff',
        { pool, handedOut: isOver },
        isOver
          ? 'Called off: all are handed out again.'
          : 'Called off; handing out again takes longer than usual: everwarm status tells.',
      ),
    tell: (event) => {
      const { type, ...fields } = event;
      if (json) printJson(cli, type, fields);
      else {
        timeline.add(event);
        timeline.flush();
      }
    },
  };
}

function forecastIn({
  pool,
  unclaimed,
  ready,
  claimed,
  atOnce,
  arrivals,
  operatorRuns,
}: Forecast): readonly string[] {
  if (!operatorRuns) return [`${pool}: ${unclaimed} unclaimed instances, ${claimed} claimed.`];
  const guess = arrivals === 0 ? 'nobody came' : `${arrivals} ${arrivals === 1 ? 'user' : 'users'} came`;
  return [
    `${pool}: ${ready} instances are ready to be handed out, ${claimed} ${claimed === 1 ? 'is' : 'are'} claimed.`,
    `  Without preparation the operator replaces ${unclaimed} at once when the definition changes: none is warm until the new pods are, and who comes just then may get an error or a login that refuses him.`,
    `  With it all ${unclaimed} keep their pods, but are handed out to nobody from now until about 10 s after the change: who comes in that time waits for a cold start (${guess} in the last 15 min). Claimed instances stay as they are.`,
    `  After that guard replaces ${atOnce} at a time.`,
  ];
}

function coldStartsIn({ coldStarts }: Progress): string {
  return coldStarts === 0
    ? 'nobody got a cold start'
    : `${coldStarts} ${coldStarts === 1 ? 'user' : 'users'} got a cold start`;
}
