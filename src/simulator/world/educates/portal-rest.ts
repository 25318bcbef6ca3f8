/** What the portal believes of one environment. */
export interface Believed {
  readonly name: string;
  readonly entry: string;
  readonly state: 'STARTING' | 'RUNNING' | 'STOPPING' | 'STOPPED';
  /** It was taken into use once. */
  readonly linked: boolean;
  readonly workshop: string;
  readonly capacity: number;
  readonly reserved: number;
  readonly available: number;
  readonly allocated: number;
}

interface Beliefs {
  readonly environments: readonly Believed[];
  /** Of the TrainingPortal that was dealt with last. */
  readonly generation: number | undefined;
  readonly failsOnUnlinked: boolean;
}

export interface Answer {
  readonly status: number;
  readonly body: unknown;
}

/** The states that the catalog shows when nobody asks for others. */
const SHOWN = ['running'];

/**
 * What the portal answers to a GET about its environments: the catalog with its filter by state, and one environment's status.
 * An environment that was never taken into use makes both fail (with the fault): that tells STARTING from anything else.
 */
export function answer(beliefs: Beliefs, path: string, states: readonly string[] = SHOWN): Answer {
  const { failsOnUnlinked, generation } = beliefs;
  if (path === '/workshops/catalog/environments/') {
    const shown = beliefs.environments.filter(({ state }) => states.includes(state.toLowerCase()));
    if (failsOnUnlinked && shown.some(({ linked }) => !linked)) return SERVER_ERROR;
    const environments = shown.map(told);
    return { status: 200, body: { portal: { generation }, environments } };
  }
  const [, name] = /^\/workshops\/environment\/([^/]+)\/status\/$/.exec(path) ?? [];
  if (name === undefined) return { status: 404, body: 'Not Found' };
  const row = beliefs.environments.find((one) => one.name === name);
  if (row === undefined) return { status: 403, body: 'Environment does not exist' };
  return failsOnUnlinked && !row.linked ? SERVER_ERROR : { status: 200, body: told(row) };
}

const SERVER_ERROR: Answer = { status: 500, body: 'Server Error (500)' };

function told(row: Believed) {
  const { name, state, entry, workshop, capacity, reserved, allocated, available } = row;
  return {
    name,
    state,
    workshop: { name: entry, resource: workshop },
    capacity,
    reserved,
    allocated,
    available,
  };
}
