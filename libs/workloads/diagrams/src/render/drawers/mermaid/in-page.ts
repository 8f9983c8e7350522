/*
 * These run beside Mermaid, in jsdom and in a page of Chromium, which is given their text: they refer to nothing outside themselves.
 */

type Globals = typeof globalThis;

/** Makes characters of the entities in SVG text before it is measured. Mermaid itself knows only three of them there. */
export function readEntities({
  Node,
  SVGElement,
  document,
}: Pick<Globals, 'Node' | 'SVGElement' | 'document'>): void {
  const plain = Object.getOwnPropertyDescriptor(Node.prototype, 'textContent')!;
  const reader = document.createElement('div');
  const read = (text: string): string => {
    // So Mermaid writes `#quot;` to itself.
    const entities = text.replaceAll('ﬂ°°', '&#').replaceAll('ﬂ°', '&').replaceAll('¶ß', ';');
    if (!/&#?\w+;/.test(entities)) return text;
    reader.innerHTML = entities.replaceAll('<', '&lt;');
    return reader.textContent;
  };
  Object.defineProperty(SVGElement.prototype, 'textContent', {
    ...plain,
    set(this: Node, text: unknown) {
      plain.set!.call(this, typeof text === 'string' ? read(text) : text);
    },
  });
}

/** Mends what Mermaid 11 draws wrong of labels that are SVG text. */
export function mendLabels(svg: Element): void {
  // These stand where their middle belongs, and begin there.
  for (const label of svg.querySelectorAll('.mindmap-node > .label[transform^="translate(0,"]'))
    label.setAttribute('text-anchor', 'middle');
  // Lines show through the ground of their labels.
  for (const sheet of svg.querySelectorAll('style')) {
    sheet.textContent = sheet.textContent.replace(
      /([^{}]*(?:edgeLabel|relationshipLabelBox)[^{}]*)\{([^{}]*)\}/g,
      (_, selectors: string, declared: string) => {
        const opaque = declared
          .replace(/(^|;)(\s*)opacity:[^;]*/g, '$1$2opacity:1')
          .replace(/rgba\(([^(),]+,[^(),]+,[^(),]+),[^(),]+\)/g, 'rgb($1)');
        return `${selectors}{${opaque}}`;
      },
    );
  }
}

/** Lets a diagram be drawn without a picture that cannot be loaded, in the room of one of this size. */
export function forgivePictures({ HTMLImageElement }: Pick<Globals, 'HTMLImageElement'>): void {
  type Decode = (this: HTMLImageElement) => Promise<void>;
  const decode = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, 'decode')!.value as Decode;
  HTMLImageElement.prototype.decode = function () {
    return decode.call(this).catch(() => {
      for (const name of ['naturalWidth', 'naturalHeight']) Object.defineProperty(this, name, { value: 100 });
    });
  };
}
