const IMAGE =
  /^[a-z0-9][a-z0-9._/-]{0,199}(:\d+\/[a-z0-9._/-]{1,200})?(:[\w][\w.-]{0,127})?(@sha256:[\da-f]{64})?$/;

/** True if the image may be leased. An allowed image without a tag allows all its tags. */
export function allows(allowed: readonly string[], image: string): boolean {
  return IMAGE.test(image) && (allowed.includes(image) || allowed.includes(untagged(image)));
}

function untagged(image: string): string {
  return image.replace(/@sha256:[\da-f]{64}$/, '').replace(/:[\w.-]+$/, '');
}
