import { SCENARIOS } from '../simulator/scenarios.ts';
import { type SimulateLine, type SimulateOptions, simulate } from '../simulator/simulate.ts';

/** What the simulator says. */
export type SimulationLine = SimulateLine;

/** The named stories that can be played. */
export function scenarioNames(): readonly string[] {
  return SCENARIOS.map(({ name }) => name);
}

/** Runs the simulator and yields what it says, line by line; the last one is `Simulated`. */
export function runSimulation(options: SimulateOptions): AsyncIterable<SimulationLine> {
  return simulate(options);
}
