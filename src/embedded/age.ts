/** How long ago `timestamp` was, as tables show it: `84s`, `5m30s`, `3h`, `2d4h`; `<unknown>` without one. */
export function age(timestamp: string | undefined, now: number): string {
  const at = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  if (Number.isNaN(at)) return '<unknown>';
  const seconds = Math.floor((now - at) / 1000);
  if (seconds < -1) return '<invalid>';
  if (seconds < 0) return '0s';
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return pair(minutes, 'm', seconds % 60, 's');
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return pair(hours, 'h', minutes % 60, 'm');
  if (hours < 48) return `${hours}h`;
  const days = Math.floor(hours / 24);
  if (days < 8) return pair(days, 'd', hours % 24, 'h');
  if (days < 730) return `${days}d`;
  return pair(Math.floor(days / 365), 'y', days % 365, 'd');
}

function pair(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`;
}
