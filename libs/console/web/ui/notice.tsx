import { signal } from '@preact/signals';
import type { JSX } from 'preact';

const SHOWN_MS = 6_000;

const notice = signal<{ text: string; tone: string } | undefined>(undefined);
let timer: ReturnType<typeof setTimeout> | undefined;

export function say(text: string, tone = ''): void {
  notice.value = { text, tone };
  clearTimeout(timer);
  timer = setTimeout(() => (notice.value = undefined), SHOWN_MS);
}

/** How the last action ended. A screen reader reads it. */
export function Notice(): JSX.Element {
  const { text = '', tone = '' } = notice.value ?? {};
  return (
    <div class={`notice ${tone}`} role="status">
      {text && <p>{text}</p>}
    </div>
  );
}
