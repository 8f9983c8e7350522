/*
 * Names of characters that HTML 4 knows and XML does not, as sources have them that were written for a web page.
 */

/** From U+00A0 on, in order. */
const LATIN =
  'nbsp iexcl cent pound curren yen brvbar sect uml copy ordf laquo not shy reg macr deg plusmn sup2 sup3 acute micro para middot cedil sup1 ordm raquo frac14 frac12 frac34 iquest Agrave Aacute Acirc Atilde Auml Aring AElig Ccedil Egrave Eacute Ecirc Euml Igrave Iacute Icirc Iuml ETH Ntilde Ograve Oacute Ocirc Otilde Ouml times Oslash Ugrave Uacute Ucirc Uuml Yacute THORN szlig agrave aacute acirc atilde auml aring aelig ccedil egrave eacute ecirc euml igrave iacute icirc iuml eth ntilde ograve oacute ocirc otilde ouml divide oslash ugrave uacute ucirc uuml yacute thorn yuml';
/** From U+03B1 on; in capitals from U+0391 on. */
const GREEK =
  'alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigmaf sigma tau upsilon phi chi psi omega';
const OTHERS = `
  OElig=Œ oelig=œ Scaron=Š scaron=š Yuml=Ÿ fnof=ƒ circ=ˆ tilde=˜ thetasym=ϑ upsih=ϒ piv=ϖ ensp= emsp=
  thinsp=\u2009 zwnj=\u200C zwj=\u200D lrm=\u200E rlm=\u200F ndash=– mdash=— lsquo=‘ rsquo=’ sbquo=‚ ldquo=“ rdquo=” bdquo=„ dagger=†
  Dagger=‡ bull=• hellip=… permil=‰ prime=′ Prime=″ lsaquo=‹ rsaquo=› oline=‾ frasl=⁄ euro=€ image=ℑ
  weierp=℘ real=ℜ trade=™ alefsym=ℵ larr=← uarr=↑ rarr=→ darr=↓ harr=↔ crarr=↵ lArr=⇐ uArr=⇑ rArr=⇒ dArr=⇓
  hArr=⇔ forall=∀ part=∂ exist=∃ empty=∅ nabla=∇ isin=∈ notin=∉ ni=∋ prod=∏ sum=∑ minus=− lowast=∗ radic=√
  prop=∝ infin=∞ ang=∠ and=∧ or=∨ cap=∩ cup=∪ int=∫ there4=∴ sim=∼ cong=≅ asymp=≈ ne=≠ equiv=≡ le=≤ ge=≥
  sub=⊂ sup=⊃ nsub=⊄ sube=⊆ supe=⊇ oplus=⊕ otimes=⊗ perp=⊥ sdot=⋅ lceil=⌈ rceil=⌉ lfloor=⌊ rfloor=⌋ lang=⟨
  rang=⟩ loz=◊ spades=♠ clubs=♣ hearts=♥ diams=♦
`;
const CHARACTERS: ReadonlyMap<string, string> = new Map([
  ...inOrder(LATIN, 0xa0),
  ...inOrder(GREEK, 0x3b1),
  // There is no capital of the sigma that ends a word.
  ...inOrder(
    GREEK.replace(/\b\w/g, (letter) => letter.toUpperCase()),
    0x391,
  ).filter(([name]) => name !== 'Sigmaf'),
  ...OTHERS.trim()
    .split(/ |\n +/)
    .map((pair) => pair.split('=') as [string, string]),
]);
const XML = new Set(['quot', 'amp', 'lt', 'gt', 'apos']);

/** Markup in which only names are left that XML knows. One that HTML does not know either is text, as in a browser. */
export function withPlainEntities(markup: string): string {
  return markup.replace(/&([A-Za-z]\w*);/g, (all, name: string) =>
    XML.has(name) ? all : (CHARACTERS.get(name) ?? `&amp;${name};`),
  );
}

function inOrder(names: string, from: number): [string, string][] {
  return names.split(' ').map((name, nth) => [name, String.fromCodePoint(from + nth)]);
}
