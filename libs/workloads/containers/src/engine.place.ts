import type { ContainerEngine } from './engines/container.engine.js';

/** Who can say anything of a container: whoever has its engine. */
export function placeOf({ name, place }: ContainerEngine): string {
  return place === undefined ? name : `${name}@${place}`;
}

/** A record that names no place is from before there were any. */
export function isIn(place: string, engine: ContainerEngine): boolean {
  return place === placeOf(engine) || place === engine.name;
}
