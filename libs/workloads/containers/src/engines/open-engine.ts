import type { ContainerEngine } from './container-engine.js';
import type { Caps } from './docker/container-options.js';
import { DockerEngine } from './docker/docker-engine.js';
import { ProcessEngine } from './process/process-engine.js';

export interface EngineSettings extends Caps {
  /** Address of a Docker-compatible engine; undefined to run containers as local processes. */
  readonly dockerHost?: string | undefined;
  /** Where the process runtime records its containers. */
  readonly folder: string;
}

export function openEngine(settings: EngineSettings): ContainerEngine {
  const { dockerHost, folder, memoryMb } = settings;
  return dockerHost ? new DockerEngine(dockerHost, settings) : new ProcessEngine(folder, memoryMb);
}
