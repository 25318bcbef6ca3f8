import type { AwsCall } from '../functions/_aws.ts';
import { FUNCTIONS } from '../functions/_cloud.ts';
import { roleOf } from '../functions/_roles.ts';
import type { Template } from '../functions/_template.ts';
import type { RealAddress } from '../real-cluster/cluster.ts';
import { cutOf, disturbed, type Healed, undisturbed } from './_heal.ts';
import type { Packages, Place } from './_scene.ts';
import { NAMESPACE } from './_words.ts';

/** A run among others. */
export interface Told extends Omit<Healed, 'cut'> {
  /** `undefined`: nothing is ended in it. */
  readonly seed: number | undefined;
  /** `reconcile ends at write 7`. */
  readonly title: string;
}

export interface Telling {
  readonly packages: Packages;
  /** A real API server, on which each run has a namespace of its own; without it, each has an embedded one. */
  readonly real?: RealAddress;
  readonly seeds: readonly (number | undefined)[];
  /** Runs side by side: most of one is waiting. */
  readonly lanes: number;
  readonly onTold?: (told: Told) => void;
}

/** Tells them all. A run that breaks off is one that failed, and ends no other. */
export async function tellAll({ seeds, lanes, onTold, ...where }: Telling): Promise<readonly Told[]> {
  const told: Told[] = [];
  const left = [...seeds];
  const lane = async (): Promise<void> => {
    while (left.length > 0) {
      const seed = left.shift();
      const namespace = seed === undefined ? NAMESPACE : `${NAMESPACE}-${seed}`;
      const one = await tell({ ...where, namespace }, seed);
      told.push(one);
      onTold?.(one);
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  return told;
}

async function tell(place: Place, seed: number | undefined): Promise<Told> {
  const cut = seed === undefined ? undefined : cutOf(seed);
  const title = cut === undefined ? 'nothing ends' : `${cut.victim} ends at write ${cut.at}`;
  try {
    return {
      seed,
      title,
      ...(cut === undefined ? await undisturbed(place) : await disturbed(place, cut)),
    };
  } catch (error) {
    const complaint = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return { seed, title, complaints: [complaint], writes: 0, seconds: 0, portrait: [], calls: [] };
  }
}

/** What differs between the end states of the runs that came to one. */
export function differences(told: readonly Told[]): readonly string[] {
  const ends = told.filter(({ portrait }) => portrait.length > 0);
  const [first] = ends;
  return ends
    .filter(({ portrait }) => portrait.join('\n') !== first?.portrait.join('\n'))
    .map(({ title, portrait }) => {
      const lines = portrait.filter((line) => !first?.portrait.includes(line));
      return `${title}: another end state than where ${first?.title}: ${lines.join('; ')}`;
    });
}

/** Permissions that nobody used, and calls that no permission covers. */
export function roleFlaws(template: Template, calls: readonly AwsCall[]): readonly string[] {
  return FUNCTIONS.flatMap((name) => {
    const { allowed, needed } = roleOf(template, name, calls);
    return [
      ...allowed.filter((one) => !needed.includes(one)).map((one) => `${name} may ${one} and never did`),
      ...needed.filter((one) => !allowed.includes(one)).map((one) => `${name} did ${one} and may not`),
    ];
  });
}
