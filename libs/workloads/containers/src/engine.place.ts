import { hostname } from 'node:os';
import type { ContainerEngine } from './engines/container.engine.js';

/** Who can say anything of a container: whoever has its engine, which as plain processes is one machine alone. */
export function placeOf({ name }: ContainerEngine): string {
  return name === 'process' ? `${name}@${hostname()}` : name;
}
