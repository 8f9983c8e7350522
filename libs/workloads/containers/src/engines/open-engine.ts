import type { ContainerEngine } from './container.engine.js';
import { DockerEngine } from './docker/docker.engine.js';
import { ProcessEngine } from './process/process.engine.js';

export interface EngineSettings {
  /** Where a Docker-compatible engine listens; without it, containers are plain processes of this machine. */
  readonly dockerHost?: string;
  /** Where the process runtime writes down what runs. */
  readonly folder: string;
  readonly memoryMb: number;
  readonly cpus: number;
  readonly pids: number;
}

export function openEngine(settings: EngineSettings): ContainerEngine {
  const { dockerHost, folder, memoryMb } = settings;
  return dockerHost ? new DockerEngine(dockerHost, settings) : new ProcessEngine(folder, memoryMb);
}
