/** Run in a copy of the repository with one mutant in it: prints the first violation that random schedules find. */
import { runSchedule, type ScheduleOptions } from '../../src/simulator/schedule.ts';

type Weather = NonNullable<ScheduleOptions['weather']>;

const [seeds, steps, weather] = process.argv
  .slice(2)
  .map((text): unknown => JSON.parse(text)) as unknown as Args;
type Args = readonly [number, number, Weather];
for (let seed = 1; seed <= seeds; seed += 1) {
  const { violations } = await runSchedule({ seed, steps, weather });
  const [first] = violations;
  if (first === undefined) continue;
  process.stdout.write(JSON.stringify({ seed, ...first }));
  break;
}
