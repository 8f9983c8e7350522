const NUMBER = /[-+]?(?:\d*\.\d+|\d+\.?)(?:e[-+]?\d+)?/gi;

/** The numbers of a list as SVG writes it, with or without commas. */
export function numbersIn(list: string | null | undefined): number[] {
  return list?.match(NUMBER)?.map(Number) ?? [];
}

/** A length in pixels; `em` is relative to the size of the font. */
export function pixels(length: string | null | undefined, fontSize: number): number {
  const number = Number.parseFloat(length ?? '') || 0;
  if (/[\d.]r?em/.test(length ?? '')) return number * fontSize;
  return number;
}
