import { isLink, isOwnPart, isPicture } from './links.js';
import { isSafeValue, safeDeclarations } from './style.js';
import { ATTRIBUTES, PROPERTIES } from './svg-allowlist.js';

/** An attribute as it may stay, or nothing. Of `xlink:href` the plain name is left, which all readers know. */
export function safeAttribute(element: string, name: string, value: string): [string, string] | undefined {
  if (name === 'href' || name === 'xlink:href') return hrefOf(element, value.trim());
  if (name === 'style') return [name, safeDeclarations(value)];
  if (PROPERTIES.has(name) || ATTRIBUTES.has(name)) return isSafeValue(value) ? [name, value] : undefined;
  return undefined;
}

function hrefOf(element: string, href: string): [string, string] | undefined {
  // A browser would encode them as well.
  const encoded = element === 'a' ? href.replaceAll(' ', '%20') : href;
  return mayPoint(element, encoded) ? ['href', encoded] : undefined;
}

function mayPoint(element: string, href: string): boolean {
  if (element === 'a') return isLink(href);
  if (element === 'image') return isPicture(href);
  return isOwnPart(href);
}
