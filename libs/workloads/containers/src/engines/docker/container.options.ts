import type Docker from 'dockerode';
import type { ContainerSpec } from '../container.engine.js';

export interface Caps {
  readonly memoryMb: number;
  readonly cpus: number;
  readonly pids: number;
}

/** What a container runs, whatever its image would: a plain image's own command ends at once without a terminal. */
const IDLE = ['tail', '-f', '/dev/null'];
const MB = 1024 * 1024;
const TMP_MB = 64;

/** No network, no privileges, nothing of the host, nowhere to write but a small /tmp, and never started again by itself. */
export function containerOptions(spec: ContainerSpec, caps: Caps): Docker.ContainerCreateOptions {
  return {
    name: spec.name,
    Image: spec.image,
    Labels: { ...spec.labels },
    Entrypoint: IDLE,
    Cmd: [],
    OpenStdin: false,
    NetworkDisabled: true,
    // Nothing in it hears SIGTERM: the first process of a container ignores what it does not ask for.
    StopSignal: 'SIGKILL',
    StopTimeout: 1,
    HostConfig: {
      Memory: caps.memoryMb * MB,
      // The same, together with swap: none of it.
      MemorySwap: caps.memoryMb * MB,
      NanoCpus: Math.round(caps.cpus * 1e9),
      PidsLimit: caps.pids,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      Tmpfs: { '/tmp': `rw,nosuid,nodev,size=${TMP_MB}m` },
      RestartPolicy: { Name: 'no' },
      // Said, and low: an engine without the right to raise limits fails on its own defaults.
      Ulimits: [
        { Name: 'nofile', Soft: 1024, Hard: 1024 },
        { Name: 'nproc', Soft: 4096, Hard: 4096 },
      ],
    },
  };
}
