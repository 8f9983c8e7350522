import { SaxesParser, type SaxesTagPlain } from 'saxes';
import { DiagramInvalid, RenderLimit } from '../errors.js';
import { escaped } from '../escape.js';
import { safeAttribute } from './attribute.js';
import { MarkdownLabel } from './markdown-label.js';
import { Parts } from './parts.js';
import { imageLeftOut, placeholderFor } from './images.js';
import { PlainText } from './plain-text.js';
import { safeSheet } from './style.js';
import { ELEMENTS } from './svg-allowlist.js';

const MOST_ELEMENTS = 100_000;
/** With what is shown again counted each time. */
const MOST_DRAWN = 500_000;
const DEEPEST = 200;
// oxlint-disable-next-line no-control-regex -- these are what XML cannot hold
const NOT_XML = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]|\p{Surrogate}/gu;

/**
 * Sanitizes a drawing: the result can run and load nothing, and has only permitted links. The drawing is parsed strictly and
 * serialized from an allowlist, so that this parser and a browser cannot read it differently. Calls `warn` with what is lost.
 */
export function safeSvg(text: string, warn: Warn = () => undefined): string {
  return new SafeSvg(warn).write(text);
}

const D2_NAME = /\bd2-\d+\b/;

type Warn = (text: string) => void;
type Label = PlainText | MarkdownLabel;

class SafeSvg {
  private readonly written: string[] = [];
  private readonly parts = new Parts();
  /** What each open element became; nothing where it was left out with all that is in it. */
  private readonly open: (string | undefined)[] = [];
  private left = 0;
  private elements = 0;
  private sheet: string | undefined;
  private label: Label | undefined;
  private d2Name: string | undefined;

  constructor(private readonly warn: Warn) {}

  write(text: string): string {
    const parser = new SaxesParser();
    parser.ENTITIES['nbsp'] = '\u00A0';
    parser.on('opentag', (tag) => this.enter(tag));
    parser.on('text', (words) => this.say(words));
    parser.on('cdata', (words) => this.say(words));
    parser.on('closetag', ({ name }) => this.leave(name));
    try {
      parser.write(text.replace(NOT_XML, '')).close();
    } catch (error) {
      if (error instanceof RenderLimit || error instanceof DiagramInvalid) throw error;
      throw new DiagramInvalid(`What was drawn is not well-formed XML (${(error as Error).message})`);
    }
    if (this.parts.total > MOST_DRAWN)
      throw new RenderLimit('size', 'The drawing shows too much of itself again.');
    return this.written.join('');
  }

  private enter(tag: SaxesTagPlain): void {
    this.elements += 1;
    if (this.elements > MOST_ELEMENTS || this.open.length >= DEEPEST) {
      throw new RenderLimit('size', `The drawing has too many elements, or too deep ones.`);
    }
    if (this.label) return this.enterLabel(tag, this.label);
    if (tag.name === 'svg') this.d2Name ??= D2_NAME.exec(tag.attributes['class'] ?? '')?.[0];
    if (this.open.length === 0 && tag.name !== 'svg') throw new DiagramInvalid('Nothing is drawn.');
    // Within a sheet nothing is an element: its end would be taken for the end of the sheet.
    const isOut = this.left > 0 || this.sheet !== undefined;
    const name = isOut ? undefined : this.nameFor(tag);
    this.open.push(name);
    if (name === undefined) this.leaveOut(tag);
    else this.begin(name, tag);
  }

  /** A link to nowhere it may lead is a mere group. */
  private nameFor({ name, attributes }: SaxesTagPlain): string | undefined {
    if (!ELEMENTS.has(name)) return undefined;
    const href = attributes['href'] ?? attributes['xlink:href'];
    const points = href !== undefined && safeAttribute(name, 'href', href) !== undefined;
    if (name === 'a') return points ? name : 'g';
    if (name === 'image' || name === 'use') return points ? name : undefined;
    return name;
  }

  private leaveOut(tag: SaxesTagPlain): void {
    if (tag.name === 'foreignObject' && this.left === 0 && this.sheet === undefined) {
      this.open.pop();
      this.label = new PlainText(tag);
      return;
    }
    if (tag.name === 'image' && this.left === 0 && this.sheet === undefined) this.leaveOutImage(tag);
    this.left += 1;
  }

  private leaveOutImage({ attributes }: SaxesTagPlain): void {
    this.warn(imageLeftOut(attributes['href'] ?? attributes['xlink:href'] ?? ''));
    this.written.push(placeholderFor(attributes));
  }

  private begin(name: string, tag: SaxesTagPlain): void {
    const attributes = safeAttributes(name, tag);
    const isRoot = this.open.length === 1;
    if (isRoot) withSize(attributes);
    if (name === 'a') attributes.set('rel', 'noopener noreferrer nofollow');
    this.parts.enter(name, attributes);
    if (name === 'style') this.sheet = '';
    const all = isRoot ? new Map([['xmlns', 'http://www.w3.org/2000/svg'], ...attributes]) : attributes;
    this.written.push(`<${name}${[...all].map(([key, value]) => ` ${key}="${escaped(value)}"`).join('')}>`);
  }

  private say(words: string): void {
    if (this.label) this.label.add(words);
    else if (this.left > 0) return;
    else if (this.sheet !== undefined) this.sheet += words;
    else if (this.open.length > 0) this.written.push(escaped(words));
  }

  private leave(tag: string): void {
    if (this.label) {
      if (this.label.leave(tag)) this.sayLabel(this.label);
      return;
    }
    const name = this.open.pop();
    if (name === undefined) {
      this.left -= 1;
      return;
    }
    if (name === 'style') this.endSheet();
    this.parts.leave();
    this.written.push(`</${name}>`);
  }

  private endSheet(): void {
    const sheet = safeSheet(this.sheet ?? '');
    this.parts.style(sheet);
    this.written.push(escaped(sheet));
    this.sheet = undefined;
  }

  private sayLabel(label: Label): void {
    this.label = undefined;
    this.written.push(label.drawn);
  }

  /** What is in an HTML label. D2 writes Markdown so, and says what it calls its fonts on the drawing. */
  private enterLabel({ name, attributes }: SaxesTagPlain, label: Label): void {
    if (/(?:^|:)img$/i.test(name)) this.warn(imageLeftOut(attributes['src'] ?? ''));
    const [kind, colour = ''] = (attributes['class'] ?? '').split(' ');
    if (kind === 'md' && this.d2Name !== undefined && label instanceof PlainText)
      this.label = new MarkdownLabel(label.place, this.d2Name, colour);
    else label.enter(name);
  }
}

function safeAttributes(element: string, { attributes }: SaxesTagPlain): Map<string, string> {
  const safe = new Map<string, string>();
  for (const [name, value] of Object.entries(attributes)) {
    const kept = safeAttribute(element, name, value);
    if (kept && !(safe.has(kept[0]) && name.startsWith('xlink:'))) safe.set(...kept);
  }
  return safe;
}

/** A drawing that is as wide as its surroundings gets the size it was drawn in: a picture has no surroundings. */
function withSize(attributes: Map<string, string>): void {
  const [, , width, height] = (attributes.get('viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (!width || !height) return;
  const isFixed = ['width', 'height'].every((name) =>
    /^[\d.]+(?:px|pt|mm|cm|in)?$/.test(attributes.get(name) ?? ''),
  );
  if (isFixed) return;
  attributes.set('width', String(width));
  attributes.set('height', String(height));
}
