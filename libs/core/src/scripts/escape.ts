const SPECIAL = /[%|"\\ \p{Cc}]/gu;

/** A text as it stands in keys and marks: it holds neither the separator `|` nor what JSON escapes. */
export function escapeText(text: string): string {
  return text.search(SPECIAL) === -1 ? text : text.replace(SPECIAL, percent);
}

export function unescapeText(text: string): string {
  return text.includes('%')
    ? text.replace(/%([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
    : text;
}

function percent(character: string): string {
  return `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;
}
