import type { ContainerEngine } from './engines/container.engine.js';

/** Who can say anything of a container: whoever has its engine. */
export function placeOf({ name, place }: ContainerEngine): string {
  return place === undefined ? name : `${name}@${place}`;
}
