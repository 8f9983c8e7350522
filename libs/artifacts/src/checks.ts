import { ArtifactError } from './artifact-error.js';

const MAX_CHARACTERS = 200;
const CONTENT_TYPE = /^[\w.+-]{1,60}\/[\w.+-]{1,80}(; ?charset=[\w-]{1,20})?$/;
/** Control characters, slashes, bidirectional control characters and lone surrogates. */
const NOT_IN_A_NAME = /[\p{Cc}\p{Cs}/\\\u{202a}-\u{202e}\u{2066}-\u{2069}\u{200e}\u{200f}\u{2028}\u{2029}]/u;

/** Names are shown to readers and are never part of a path. They are restricted nevertheless. */
export function checkName(name: string): void {
  const isFit =
    typeof name === 'string' &&
    name.length >= 1 &&
    name.length <= MAX_CHARACTERS &&
    name !== '.' &&
    name !== '..' &&
    !NOT_IN_A_NAME.test(name);
  if (!isFit)
    throw new ArtifactError(
      'INVALID',
      `An artifact's name must have 1 to ${MAX_CHARACTERS} characters without slashes and control characters.`,
    );
}

export function checkContentType(contentType: string): void {
  if (typeof contentType !== 'string' || !CONTENT_TYPE.test(contentType))
    throw new ArtifactError('INVALID', 'contentType must be a media type, as in text/plain; charset=utf-8.');
}
