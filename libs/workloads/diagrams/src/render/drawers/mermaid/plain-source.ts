/*
 * Labels are drawn as SVG text, for HTML in a drawing would not be safe. Mermaid then prints what is meant for HTML as it is
 * written; here it is taken out of the source, or written in Mermaid's own way. Lines stay where they are.
 */

const ICON = String.raw`fa[bklrs]?:fa-[\w-]+`;
/** All there is of a label: between brackets or quotes, after a colon, or in a line of its own. */
const ICONS_ALONE = new RegExp(
  String.raw`((?:[[({|"'>]|:[ \t]|^)[ \t]*)((?:${ICON}[ \t]*)+)(?=[\])}|"']|\r?$)`,
  'gm',
);
const ICON_BESIDE_WORDS = new RegExp(`${ICON}[ \t]*`, 'g');
const ENTITY = /&(#x[\da-f]{1,6}|#\d{1,7}|[a-z]\w{1,30});/gi;
/** Both ends of it: in other pairs of angle brackets stand names, as in `List<String>`. */
const TAGGED =
  /<(b|strong|i|em|u|s|del|small|big|sub|sup|span|font|center|code|mark|p|div|a)(?:\s[^<>\n]*)?>([^]{0,1000}?)<\/\1>/gi;
const DEEPEST_TAGS = 5;

export function plainSource(source: string): string {
  return withoutTags(source)
    .replace(ICONS_ALONE, (_, before: string, icons: string) => before + namesOf(icons))
    .replace(ICON_BESIDE_WORDS, '')
    .replace(ENTITY, (_, entity: string) => `#${numberOrName(entity)};`);
}

function withoutTags(source: string): string {
  let plain = source;
  for (let depth = 0; depth < DEEPEST_TAGS; depth += 1) plain = plain.replace(TAGGED, '$2');
  return plain;
}

/** `fa:fa-car` says at least "car". */
function namesOf(icons: string): string {
  return icons.replace(/fa[bklrs]?:fa-/g, '').trimEnd();
}

function numberOrName(entity: string): string {
  if (!entity.startsWith('#')) return entity;
  return String(/^#x/i.test(entity) ? Number.parseInt(entity.slice(2), 16) : Number(entity.slice(1)));
}
