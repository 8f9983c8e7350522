const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Signs that no XML and no HTML may hold, not even written as a number. */
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu;

/** Markup that is safe as it is. Only `html` makes it. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[];

/** What is put in is text, and is escaped; so it is in an attribute too, which stands in double quotes. */
export function html(markup: TemplateStringsArray, ...parts: readonly Part[]): Html {
  return new Html(markup.reduce((all, piece, i) => all + textOf(parts[i - 1]!) + piece));
}

export function escape(text: string): string {
  return text.replaceAll(FORBIDDEN, '\u{fffd}').replaceAll(/[&<>"']/g, (sign) => SIGNS[sign]!);
}

function textOf(part: Part): string {
  if (part instanceof Html) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return escape(String(part));
}
