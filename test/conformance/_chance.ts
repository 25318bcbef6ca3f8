import type { Random } from '../../src/clock.ts';

/** Choices from one seeded source. */
export interface Chance {
  one<T>(choices: readonly T[]): T;
  /** One of some choices, as often as its weight says. */
  weighted<T>(choices: readonly (readonly [number, T])[]): T;
  yes(probability: number): boolean;
  /** A whole number from `from` to `to`. */
  whole(from: number, to: number): number;
  /** A number that this source has not given before. */
  fresh(): number;
}

export function chance(random: Random): Chance {
  const one = <T>(choices: readonly T[]): T => {
    const choice = choices[Math.floor(random() * choices.length)];
    if (choice === undefined) throw new Error('nothing to choose from');
    return choice;
  };
  let given = 10;
  return {
    one,
    weighted: (choices) => {
      const total = choices.reduce((sum, [weight]) => sum + weight, 0);
      let left = random() * total;
      for (const [weight, choice] of choices) {
        left -= weight;
        if (left < 0) return choice;
      }
      return one(choices)[1];
    },
    yes: (probability) => random() < probability,
    whole: (from, to) => from + Math.floor(random() * (to - from + 1)),
    fresh: () => {
      given += 1;
      return given;
    },
  };
}
