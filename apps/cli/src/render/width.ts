const ASCII = /^[\x20-\x7e]*$/;
const graphemes = new Intl.Segmenter(undefined, { granularity: 'grapheme' });
/** Characters that take two columns (East Asian Width W and F), and pictures. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;
/** Characters without a place of their own. */
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** How many columns of a terminal a text takes. */
export function width(text: string): number {
  if (ASCII.test(text)) return text.length;
  let sum = 0;
  for (const { segment } of graphemes.segment(text)) sum += widthOf(segment);
  return sum;
}

/** Cuts a text to a number of columns, at its end or in its middle. */
export function cut(text: string, room: number, where: 'end' | 'middle'): string {
  if (width(text) <= room) return text;
  const parts = Array.from(graphemes.segment(text), ({ segment }) => segment);
  const tail =
    where === 'end'
      ? ''
      : take(parts.toReversed(), Math.floor((room - 1) / 2))
          .toReversed()
          .join('');
  return `${take(parts, room - 1 - width(tail)).join('')}…${tail}`;
}

function take(parts: readonly string[], room: number): string[] {
  let left = room;
  const end = parts.findIndex((part) => (left -= widthOf(part)) < 0);
  return parts.slice(0, end < 0 ? parts.length : end);
}

function widthOf(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) ? 2 : 1;
}
