/*
 * What draws a PNG knows arrow heads that turn with their line, and not those that besides turn round at its beginning: it would draw
 * these as if every line led to the right. Here they become two markers that it knows, one for each end.
 */

const MARKER = /<marker\b([^>]*)>((?:(?!<marker\b)[^])*?)<\/marker>/g;
const TURNS_ROUND = ' orient="auto-start-reverse"';
const AT_START = /(marker-start(?:="|\s*:\s*)url\((?:&quot;|')?#)([^)"'&\s]+)/g;
const WIDE = 3;

/** Of a safe drawing: its tags and values are written in one way only. */
export function withPlainMarkers(svg: string): string {
  if (!svg.includes(TURNS_ROUND)) return svg;
  const starts = new Set([...svg.matchAll(AT_START)].map(([, , id]) => id!));
  const reversed = new Set<string>();
  const plain = svg.replace(MARKER, (marker, attributes: string, inside: string) => {
    if (!attributes.includes(TURNS_ROUND)) return marker;
    const turned = attributes.replace(TURNS_ROUND, ' orient="auto"');
    const id = valueOf(attributes, 'id') ?? '';
    const other = starts.has(id) ? aboutFace(turned, id, inside) : '';
    if (other) reversed.add(id);
    return `<marker${turned}>${inside}</marker>${other}`;
  });
  return plain.replace(AT_START, (all, before: string, id: string) =>
    reversed.has(id) ? before + nameOf(id) : all,
  );
}

/** Round its middle, so that all of it stays within its edges; the point it is held by moves with it. */
function aboutFace(attributes: string, id: string, inside: string): string {
  const size = (name: string, otherwise: number): number => Number(valueOf(attributes, name) ?? otherwise);
  const box = valueOf(attributes, 'viewBox')
    ?.trim()
    .split(/[\s,]+/)
    .map(Number);
  const [left, top, width, height] = box ?? [0, 0, size('markerWidth', WIDE), size('markerHeight', WIDE)];
  const [x, y] = [left! + width! / 2, top! + height! / 2];
  const [refX, refY] = [2 * x - size('refX', 0), 2 * y - size('refY', 0)];
  // A word, as in refX="center".
  if (![refX, refY].every(Number.isFinite)) return '';
  const rest = attributes.replace(/ (?:id|refX|refY)="[^"]*"/g, '');
  const place = `id="${nameOf(id)}" refX="${refX}" refY="${refY}"`;
  return `<marker ${place}${rest}><g transform="rotate(180 ${x} ${y})">${inside}</g></marker>`;
}

function nameOf(id: string): string {
  return `${id}--at-start`;
}

function valueOf(attributes: string, name: string): string | undefined {
  return new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
}
