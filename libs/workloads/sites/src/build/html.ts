const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
/** Characters that neither XML nor HTML may contain, not even as a numeric reference. */
const FORBIDDEN = /(?![\t\n\r])[\p{Cc}\p{Cs}\p{Noncharacter_Code_Point}]/gu;

/** Markup that is safe as it is. Only `html` creates it. */
export class Html {
  constructor(readonly text: string) {}
}

type Part = string | number | Html | readonly Html[];

/** Escapes every inserted value, for text and for attributes in double quotes. */
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
