const OWN_PART = /^#[^\s"'<>()\\]+$/;
const PICTURE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*$/;
const FONT =
  /^data:(?:font\/[\w+-]+|application\/(?:x-)?font-[\w+-]+|application\/vnd\.ms-fontobject)(?:;charset=[\w-]+)?;base64,[A-Za-z0-9+/=\s]*$/;
const ELSEWHERE = /^(?:https?:\/\/|mailto:)[^\s]+$/i;

/** A part of the same drawing. */
export function isOwnPart(href: string): boolean {
  return OWN_PART.test(href);
}

/** An embedded raster image. SVG is refused, because it would be a drawing that was not sanitized. */
export function isPicture(href: string): boolean {
  return PICTURE.test(href);
}

export function isFont(href: string): boolean {
  return FONT.test(href);
}

/** What a reader may click. Browsers ignore control characters in the middle of a scheme; here they are refused. */
export function isLink(href: string): boolean {
  return isOwnPart(href) || ELSEWHERE.test(href);
}
