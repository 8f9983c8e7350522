import { JSDOM } from 'jsdom';

/** The words that a reader of a picture sees, each text separately. */
export function wordsIn(svg: string): string {
  const { document } = new JSDOM(svg, { contentType: 'image/svg+xml' }).window;
  return [...document.querySelectorAll('text')]
    .map((text) => text.textContent.replace(/\s+/g, ' ').trim())
    .filter(Boolean)
    .join(' | ');
}
