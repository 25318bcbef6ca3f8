const DATE_TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
const BYTE = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const IPV4 = /^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.(?!$)|$)){4}$/;

const CHECKS: Readonly<Record<string, (value: string) => boolean>> = {
  'date-time': (value) => DATE_TIME.test(value) && !Number.isNaN(Date.parse(value)),
  date: (value) => DATE.test(value) && !Number.isNaN(Date.parse(value)),
  uuid: (value) => UUID.test(value),
  byte: (value) => BYTE.test(value),
  ipv4: (value) => IPV4.test(value),
};

/** What is wrong with a string of a named format, if anything; formats not known here are not checked. */
export function formatProblem(format: string | undefined, value: string): string | undefined {
  const check = format === undefined ? undefined : CHECKS[format];
  return check === undefined || check(value)
    ? undefined
    : `must be of type ${format}: ${JSON.stringify(value)}`;
}
