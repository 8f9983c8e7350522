/** A drawing that is as wide as its surroundings gets the size it was drawn in: a picture has no surroundings. */
export function withSize(attributes: Map<string, string>): void {
  const [, , width, height] = (attributes.get('viewBox') ?? '').split(/[\s,]+/).map(Number);
  if (!width || !height) return;
  const isFixed = ['width', 'height'].every((name) =>
    /^[\d.]+(?:px|pt|mm|cm|in)?$/.test(attributes.get(name) ?? ''),
  );
  if (isFixed) return;
  attributes.set('width', String(width));
  attributes.set('height', String(height));
}
