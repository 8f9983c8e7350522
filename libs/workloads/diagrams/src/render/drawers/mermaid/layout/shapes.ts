import { around, rectangle, united, type Box } from './box.js';
import { numbersIn } from './numbers.js';
import { pairsOf, piecesOf } from './path.js';
import { Styles } from './styles.js';
import { TextLayout } from './text.js';
import { matrixOf, transformed } from './transform.js';

/** These are shown by others, or not at all. */
const UNSEEN = new Set([
  'defs',
  'marker',
  'style',
  'title',
  'desc',
  'script',
  'metadata',
  'clipPath',
  'mask',
  'pattern',
  'linearGradient',
  'radialGradient',
  'filter',
  'symbol',
]);

type Shape = (element: Element) => Box | undefined;

const SHAPES: Record<string, Shape> = {
  rect: sized,
  image: sized,
  use: sized,
  foreignObject: sized,
  circle: (element) => oval(element, number(element, 'r'), number(element, 'r')),
  ellipse: (element) => oval(element, number(element, 'rx'), number(element, 'ry')),
  line: (element) =>
    around([
      [number(element, 'x1'), number(element, 'y1')],
      [number(element, 'x2'), number(element, 'y2')],
    ]),
  polygon: (element) => around(pairsOf(numbersIn(element.getAttribute('points')))),
  polyline: (element) => around(pairsOf(numbersIn(element.getAttribute('points')))),
  path: (element) => around(piecesOf(element.getAttribute('d')).flat()),
};

/** What `getBBox` says: the box around an element in its own coordinates, without its strokes. */
export function boxOf(element: Element, styles = new Styles()): Box | undefined {
  const { localName } = element;
  if (UNSEEN.has(localName) || !styles.of(element).isShown) return undefined;
  if (localName === 'text' || localName === 'tspan') return new TextLayout(element, styles).box;
  const shape = Object.hasOwn(SHAPES, localName) ? SHAPES[localName] : undefined;
  return shape ? shape(element) : boxOfChildren(element, styles);
}

/** The same where it stands on the page. */
export function boxOnPage(element: Element): Box | undefined {
  let box = boxOf(element);
  for (let at: Element | null = element; at; at = at.parentElement) box = placed(box, at);
  return box;
}

function boxOfChildren(element: Element, styles: Styles): Box | undefined {
  let box: Box | undefined;
  for (const child of element.children) box = united(box, placed(boxOf(child, styles), child));
  return box;
}

/** Where its parent sees it. */
function placed(box: Box | undefined, element: Element): Box | undefined {
  const inside = isNested(element) ? transformed(box, matrixOf(viewOf(element))) : box;
  return transformed(inside, matrixOf(element.getAttribute('transform')));
}

/** Of the outermost drawing the size is not known yet. */
function isNested({ localName, namespaceURI, parentElement }: Element): boolean {
  return localName === 'svg' && parentElement?.namespaceURI === namespaceURI;
}

/** As the transform that it is: a `viewBox` is fitted into the middle of the element. */
function viewOf(element: Element): string {
  const move = `translate(${number(element, 'x')} ${number(element, 'y')})`;
  const [left = 0, top = 0, width = 0, height = 0] = numbersIn(element.getAttribute('viewBox'));
  const [across, down] = [number(element, 'width') || width, number(element, 'height') || height];
  if (width === 0 || height === 0) return move;
  const scale = Math.min(across / width, down / height);
  const [x, y] = [(across - width * scale) / 2, (down - height * scale) / 2];
  return `${move} translate(${x} ${y}) scale(${scale}) translate(${-left} ${-top})`;
}

/** Without any extent it is not drawn, and takes no room. */
function sized(element: Element): Box | undefined {
  const [width, height] = [length(element, 'width'), length(element, 'height')];
  if (width === 0 && height === 0) return undefined;
  return rectangle(number(element, 'x'), number(element, 'y'), width, height);
}

function oval(element: Element, rx: number, ry: number): Box | undefined {
  if (rx === 0 && ry === 0) return undefined;
  return rectangle(number(element, 'cx') - rx, number(element, 'cy') - ry, 2 * rx, 2 * ry);
}

function number(element: Element, name: string): number {
  return Number.parseFloat(element.getAttribute(name) ?? '') || 0;
}

/** A sheet may say it instead; in Mermaid only a `style` does. */
function length(element: Element, name: 'width' | 'height'): number {
  const [, styled] =
    new RegExp(`(?:^|[;\\s])${name}:\\s*([\\d.]+)`).exec(element.getAttribute('style') ?? '') ?? [];
  return styled === undefined ? number(element, name) : Number(styled);
}
