import { ArtifactError } from './artifact-error.js';

const MOST_SIGNS = 200;
const CONTENT_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,80}(; ?charset=[\w-]{1,20})?$/;
/** Control signs, slashes of either sort, signs that turn the direction of what follows, and halves of characters. */
const NOT_IN_A_NAME = /[\p{Cc}\p{Cs}/\\\u{202a}-\u{202e}\u{2066}-\u{2069}\u{200e}\u{200f}\u{2028}\u{2029}]/u;

/** A name is what whoever reads the artifact sees; no path is made of it. It is kept harmless all the same. */
export function checkName(name: string): void {
  const isFit =
    typeof name === 'string' &&
    name.length >= 1 &&
    name.length <= MOST_SIGNS &&
    name !== '.' &&
    name !== '..' &&
    !NOT_IN_A_NAME.test(name);
  if (!isFit)
    throw new ArtifactError(
      'INVALID',
      `An artifact's name has 1 to ${MOST_SIGNS} characters, and no slashes or control characters.`,
    );
}

export function checkContentType(contentType: string): void {
  if (typeof contentType !== 'string' || !CONTENT_TYPE.test(contentType))
    throw new ArtifactError('INVALID', 'contentType is one as in text/plain; charset=utf-8.');
}
