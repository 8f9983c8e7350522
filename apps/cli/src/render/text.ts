/** Escapes line breaks, terminal control characters and text direction marks in text from outside. */
export function clean(text: string): string {
  return text.replaceAll(/[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu, (mark) => {
    return mark === '\n' ? '\\n' : `\\u${mark.codePointAt(0)!.toString(16).padStart(4, '0')}`;
  });
}

/** Like `clean`, but keeps line breaks. */
export function cleanLines(text: string): string {
  return text.split('\n').map(clean).join('\n');
}

export function show(value: unknown): string {
  return clean(typeof value === 'string' ? value : (JSON.stringify(value) ?? ''));
}

export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Quotes a word for a POSIX shell, if it needs quotes. */
export function quote(word: string): string {
  return /^[\w.,:/@%+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const STEPS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const;

/** Formats a duration with its two largest units. */
export function span(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)}ms`;
  if (ms < 10_000) return `${(Math.floor(ms / 100) / 10).toFixed(1)}s`;
  const first = STEPS.findIndex(([, size]) => ms >= size);
  const [unit, size] = STEPS[first]!;
  const [nextUnit, nextSize] = STEPS[first + 1] ?? [];
  const rest = nextSize ? Math.floor((ms % size) / nextSize) : 0;
  return `${Math.floor(ms / size)}${unit}${rest > 0 ? ` ${rest}${nextUnit}` : ''}`;
}

const WIDTH = 24;

/** Progress bar. `done` may exceed `of`, because the total was counted at the start. */
export function bar(done: number, of: number): string {
  const full = of === 0 ? WIDTH : Math.min(WIDTH, Math.floor((WIDTH * done) / of));
  return `${'█'.repeat(full)}${'░'.repeat(WIDTH - full)} ${done} of ${Math.max(done, of)}`;
}

/** How long ago a time was. */
export function ago(at: string, now = Date.now()): string {
  const ms = now - Date.parse(at);
  return Number.isNaN(ms) ? '' : span(Math.max(0, ms));
}
