const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.\d+)?(Z|[+-]\d\d:\d\d)$/;
const MICRO_TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})(Z|[+-]\d\d:\d\d)$/;

/** Epoch ms as Kubernetes' Time: to the second, in UTC. */
export function formatTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

/** A Time in the form the server stores: fractions cut, the offset converted. `undefined` for what is none. */
export function parseTime(text: string): string | undefined {
  const match = TIME.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}${match[2]}`);
  return Number.isNaN(ms) ? undefined : formatTime(ms);
}

/** A MicroTime has exactly six decimals; the offset is converted. */
export function parseMicroTime(text: string): string | undefined {
  const match = MICRO_TIME.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(`${match[1]}${match[3]}`);
  return Number.isNaN(ms) ? undefined : `${new Date(ms).toISOString().slice(0, 19)}.${match?.[2]}Z`;
}
