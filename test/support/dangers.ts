import { JSDOM } from 'jsdom';

const FORBIDDEN =
  'script, foreignObject, iframe, object, embed, animate, animateTransform, animateMotion, set, handler, feImage, link, base, form, input, img, video, audio, meta';
const HARMLESS = /^(#|data:image\/(png|jpeg|gif|webp);)/i;
const LINK = /^(#|https?:\/\/|mailto:)/i;
const LOADS =
  /@import|url\(\s*['"]?\s*(?!['"]?(?:#|data:(?:image\/(?:png|jpeg|gif|webp)|font|application)))|image-set|expression\(/i;

/**
 * What a browser could run, load or follow in a picture, alone or within a page. Found without Mooring's own parser.
 */
export function dangersIn(svg: string): string[] {
  return [...new Set([...inDocument(svg, 'image/svg+xml'), ...inDocument(svg, 'text/html')])];
}

function inDocument(svg: string, contentType: 'image/svg+xml' | 'text/html'): string[] {
  const { document } = new JSDOM(svg, { contentType }).window;
  const found = [...document.querySelectorAll(FORBIDDEN)].filter((each) => !isOfThePage(each));
  return [...found.map(({ localName }) => `<${localName}>`), ...instructions(svg), ...inElements(document)];
}

/** Every page has these. */
function isOfThePage({ localName }: Element): boolean {
  return ['html', 'head', 'body'].includes(localName);
}

function instructions(svg: string): string[] {
  return [...svg.matchAll(/<[?!][\w-]*/g)].map(([start]) => start);
}

function inElements(document: Document): string[] {
  return [...document.querySelectorAll('*')].flatMap((element) => [
    ...[...element.attributes].flatMap(({ name, value }) => inAttribute(element, name, value)),
    ...(element.localName === 'style' && LOADS.test(element.textContent ?? '') ? ['<style> that loads'] : []),
  ]);
}

function inAttribute({ localName }: Element, name: string, value: string): string[] {
  const plain = name.toLowerCase();
  if (plain.startsWith('on')) return [name];
  const mayBe = localName === 'a' ? LINK : HARMLESS;
  if (/^(xlink:)?href$|^src$/.test(plain) && !mayBe.test(value)) return [`${name}=${value}`];
  if (LOADS.test(value) || /javascript:/i.test(value.replace(/\s/g, ''))) return [`${name}=${value}`];
  return [];
}
