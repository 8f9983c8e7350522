/** A whole sheet, or one tag. */
const MARKUP = /<style\b[^>]*>[^]*?<\/style>|<[^>]*>/g;

/** Changes a drawing's tags and sheets, and none of its words: a label may look like CSS. */
export function inMarkup(svg: string, change: (markup: string) => string): string {
  return svg.replace(MARKUP, (markup) => change(markup));
}
