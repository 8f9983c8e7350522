import type Docker from 'dockerode';
import type { ContainerSpec } from '../container-engine.js';

export interface Caps {
  readonly memoryMb: number;
  readonly cpus: number;
  readonly pids: number;
}

/** The command of every container. Without a terminal, a plain image's own command ends at once. */
const IDLE = ['tail', '-f', '/dev/null'];
const MB = 1024 * 1024;
const TMP_MB = 64;

/** No network, no privileges, no host resources, only a small writable /tmp, and no automatic restart. */
export function containerOptions(spec: ContainerSpec, caps: Caps): Docker.ContainerCreateOptions {
  return {
    name: spec.name,
    Image: spec.image,
    Labels: { ...spec.labels },
    Entrypoint: IDLE,
    Cmd: [],
    OpenStdin: false,
    NetworkDisabled: true,
    // The command ignores SIGTERM, because the first process of a container has no default handlers.
    StopSignal: 'SIGKILL',
    StopTimeout: 1,
    HostConfig: {
      Memory: caps.memoryMb * MB,
      // Equal to the memory limit, which disables swap.
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
      // Explicit and low: an engine without the right to raise limits fails on its own defaults.
      Ulimits: [
        { Name: 'nofile', Soft: 1024, Hard: 1024 },
        { Name: 'nproc', Soft: 4096, Hard: 4096 },
      ],
    },
  };
}
