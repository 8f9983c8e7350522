import { signal } from '@preact/signals';
import type { JSX } from 'preact';
import { exact, relative } from './format.js';

const now = signal(Date.now());
setInterval(() => {
  if (!document.hidden) now.value = Date.now();
}, 1_000);

/** How long ago, and the exact time for those who point at it. */
export function Time({ at }: { readonly at: string | null | undefined }): JSX.Element {
  if (!at) return <span class="quiet">–</span>;
  return (
    <time dateTime={at} title={exact(at)}>
      {relative(at, now.value)}
    </time>
  );
}
