const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
];

const NUMBER = new Intl.NumberFormat('en');
const EXACT = new Intl.DateTimeFormat('en', { dateStyle: 'medium', timeStyle: 'long' });

export function number(value: number): string {
  return NUMBER.format(value);
}

/** The two largest units: `2 h 5 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const first = UNITS.findIndex(([unit]) => ms >= unit);
  const [unit, name] = UNITS[first]!;
  const next = UNITS[first + 1];
  const rest = next ? Math.floor((ms % unit) / next[0]) : 0;
  return `${Math.floor(ms / unit)} ${name}${next && rest > 0 ? ` ${rest} ${next[1]}` : ''}`;
}

export function relative(at: string, now: number): string {
  const ms = now - Date.parse(at);
  const [unit, name] = UNITS.find(([each]) => Math.abs(ms) >= each) ?? [1_000, 's'];
  const count = Math.floor(Math.abs(ms) / unit);
  if (count === 0) return 'now';
  return ms > 0 ? `${count} ${name} ago` : `in ${count} ${name}`;
}

export function exact(at: string): string {
  return EXACT.format(new Date(at));
}

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${number(count)} ${count === 1 ? one : many}`;
}

export function bytes(size: number): string {
  if (size < 1_024) return `${size} B`;
  return size < 1_048_576 ? `${(size / 1_024).toFixed(1)} KiB` : `${(size / 1_048_576).toFixed(1)} MiB`;
}

/** Long ids are cut in the middle; the whole is in the title. */
export function short(id: string, most = 22): string {
  const half = Math.floor((most - 1) / 2);
  return id.length <= most ? id : `${id.slice(0, half)}…${id.slice(-half)}`;
}
