import { signal } from '@preact/signals';
import { READ_AGAIN } from '../data/use-read.js';
import { go, link } from '../router.js';
import { ALL_PLACES } from './places.js';

export const isSearching = signal(false);
export const isHelping = signal(false);

/** How long a `g` waits for the key of a page. */
const CHORD_MS = 1_500;

export function listenToKeys(): void {
  let chordUntil = 0;
  addEventListener('keydown', (event) => {
    const isFind = event.key === 'k' && (event.ctrlKey || event.metaKey);
    if (isFind || (event.key === '/' && isFree(event))) {
      event.preventDefault();
      isSearching.value = true;
      return;
    }
    if (!isFree(event)) return;
    if (event.timeStamp < chordUntil) {
      chordUntil = 0;
      const place = ALL_PLACES.find(({ key }) => key === event.key);
      if (place) go(link([place.path].filter(Boolean)));
    } else if (event.key === 'g') chordUntil = event.timeStamp + CHORD_MS;
    else if (event.key === '?') isHelping.value = true;
    else if (event.key === 'r') dispatchEvent(new Event(READ_AGAIN));
  });
}

/** A letter that is typed into a field, or with a modifier, is not for the page. */
function isFree({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isField = target instanceof HTMLElement && target.matches('input, select, textarea');
  return !isField && !ctrlKey && !metaKey && !altKey && !document.querySelector('dialog[open]');
}
