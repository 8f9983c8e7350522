import { openEngine, type Container, type ContainerEngine } from '#workloads/containers';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { EngineDoor, type Answered, type DoorTrouble, type EndingCall } from './engine-door.js';
import { root } from './process.js';
import { RealEngine } from './real-engines.js';

const CAPS = { memoryMb: 64, cpus: 0.5, pids: 32 };

/** What containers run on, and what only somebody beside a fleet does to it. */
export interface LeaseRuntime {
  /** For a fleet that has it. */
  readonly env: NodeJS.ProcessEnv;
  /** The same containers, past every trouble that is made for the fleet. */
  readonly engine: ContainerEngine;
  /** What it can be told to refuse. */
  readonly refuses: readonly EndingCall[];
  /** To one container, each time, until it is taken back. */
  readonly trouble: (word: DoorTrouble, call: EndingCall, of: Pick<Container, 'id' | 'name'>) => () => void;
  /** What it answered who ended containers; only where it is asked by HTTP. */
  readonly answered: readonly Answered[] | undefined;
  readonly close: () => Promise<void>;
}

export interface NamedRuntime {
  readonly name: string;
  readonly start: () => Promise<LeaseRuntime>;
}

/** Named ones are real (`npm run test:engines`); else the process runtime. */
export function leaseRuntimes(): NamedRuntime[] {
  const real = RealEngine.all().map(({ name, host }) => ({ name, start: () => dockerRuntime(host) }));
  return real.length > 0 ? real : [{ name: 'the process runtime', start: processRuntime }];
}

/** Of an engine that speaks Docker's API the fleet has only a door. */
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

/** A process that is killed cannot be told not to end; the file it is written down in can be kept from going. */
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
