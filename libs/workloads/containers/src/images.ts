const IMAGE =
  /^[a-z0-9][a-z0-9._/-]{0,199}(:\d+\/[a-z0-9._/-]{1,200})?(:[\w][\w.-]{0,127})?(@sha256:[\da-f]{64})?$/;

/** Whether an image may be leased: each of the allowed stands for all its tags, unless it names one. */
export function allows(allowed: readonly string[], image: string): boolean {
  return IMAGE.test(image) && (allowed.includes(image) || allowed.includes(untagged(image)));
}

function untagged(image: string): string {
  return image.replace(/@sha256:[\da-f]{64}$/, '').replace(/:[\w.-]+$/, '');
}
