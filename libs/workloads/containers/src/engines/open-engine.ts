import type { ContainerEngine } from './container.engine.js';
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
  if (settings.dockerHost) throw new Error('DOCKER_HOST is not supported yet.');
  return new ProcessEngine(settings.folder, settings.memoryMb);
}
