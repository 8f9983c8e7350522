/** The methods that a class and its ancestors define, up to another class or to EventEmitter. */
export function methodsOf(from: { prototype: object }, to: { prototype: object } | null): string[] {
  const names: string[] = [];
  for (
    let proto: object = from.prototype;
    proto !== to?.prototype && proto !== Object.prototype && proto.constructor.name !== 'EventEmitter';
    proto = Object.getPrototypeOf(proto) as object
  ) {
    names.push(...Object.getOwnPropertyNames(proto));
  }
  return names;
}
