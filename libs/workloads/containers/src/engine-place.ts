import type { ContainerEngine } from './engines/container-engine.js';

/**
 * Identifies the engine of a container. Only a process with that engine can say whether the container exists.
 */
export function placeOf({ name, place }: ContainerEngine): string {
  return place === undefined ? name : `${name}@${place}`;
}

/** Records from before places were introduced have none. */
export function isIn(place: string, engine: ContainerEngine): boolean {
  return place === placeOf(engine) || place === engine.name;
}
