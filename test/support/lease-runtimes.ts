import { openEngine, type Container, type ContainerEngine } from '#workloads/containers';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EngineDoor, type Answered, type DoorTrouble, type EndingCall } from './engine-door.js';
import { root } from './process.js';
import { RealEngine } from './real-engines.js';

const CAPS = { memoryMb: 64, cpus: 0.5, pids: 32 };

/** A container engine, and control over it from outside the fleet. */
export interface LeaseRuntime {
  /** Environment of a fleet that uses it. */
  readonly env: NodeJS.ProcessEnv;
  /** The same containers, without the faults injected for the fleet. */
  readonly engine: ContainerEngine;
  /** Calls that can be made to fail. */
  readonly refuses: readonly EndingCall[];
  /** Injects a fault into one container's calls until it is revoked. */
  readonly trouble: (word: DoorTrouble, call: EndingCall, of: Pick<Container, 'id' | 'name'>) => () => void;
  /** Responses to calls that end containers; only for engines with HTTP. */
  readonly answered: readonly Answered[] | undefined;
  readonly close: () => Promise<void>;
}

export interface NamedRuntime {
  readonly name: string;
  readonly start: () => Promise<LeaseRuntime>;
}

/** Engines named in the environment are real (`npm run test:engines`); otherwise the process runtime. */
export function leaseRuntimes(): NamedRuntime[] {
  const real = RealEngine.all().map(({ name, host }) => ({ name, start: () => dockerRuntime(host) }));
  return real.length > 0 ? real : [{ name: 'the process runtime', start: processRuntime }];
}

/** The fleet reaches an engine with Docker's API only through a proxy. */
export async function dockerRuntime(dockerHost: string): Promise<LeaseRuntime> {
  const door = await EngineDoor.open(dockerHost);
  return {
    env: { DOCKER_HOST: door.host, LEASE_MEMORY_MB: '64' },
    engine: openEngine({ dockerHost, folder: '/nowhere', ...CAPS }),
    refuses: ['stop', 'remove'],
    trouble: (word, call, { id }) => door.trouble(word, call, id),
    answered: door.answered,
    close: () => door.close(),
  };
}

/** The end of a killed process cannot be prevented, but the removal of its record can. */
async function processRuntime(): Promise<LeaseRuntime> {
  const folder = mkdtempSync(join(tmpdir(), 'mooring-runtime-'));
  const preload = pathToFileURL(join(root, 'test/support/stuck-file.mjs')).href;
  return {
    env: { LEASE_FOLDER: folder, NODE_OPTIONS: `--import ${preload}` },
    engine: openEngine({ folder, ...CAPS }),
    refuses: ['remove'],
    trouble: (word, _call, { name }) => {
      const stuck = join(folder, `${name}.json.stuck`);
      writeFileSync(stuck, word);
      return () => rmSync(stuck, { force: true });
    },
    answered: undefined,
    close: async () => rmSync(folder, { recursive: true, force: true }),
  };
}
