import {
  carries,
  ContainerEngine,
  EngineUnavailable,
  type Container,
  type ContainerSpec,
} from '../container-engine.js';
import { endProcess } from './end-process.js';
import { IdleChild } from './idle-child.js';
import { isRunning } from './process-identity.js';
import { Registry, type ContainerRecord } from './registry.js';

const CREATE_TRIES = 5;
const GRACE_MS = 2_000;

/**
 * Runs containers as idle processes of this machine, for development without an engine: they isolate nothing.
 * Every process with the folder can start, find and end them, and they outlive it.
 */
export class ProcessEngine extends ContainerEngine {
  readonly name = 'process';
  private readonly registry: Registry;

  constructor(
    folder: string,
    private readonly memoryMb: number,
  ) {
    super();
    this.registry = new Registry(folder);
  }

  override place(): Promise<string> {
    return this.registry.place();
  }

  async create(spec: ContainerSpec, signal: AbortSignal): Promise<Container> {
    for (let tries = 0; tries < CREATE_TRIES; tries += 1) {
      signal.throwIfAborted();
      const made = (await this.registry.named(spec.name)) ?? (await this.start(spec));
      if (made) return shown(made);
    }
    throw new EngineUnavailable(`The name ${spec.name} is taken and given up again and again.`);
  }

  async find(id: string, signal: AbortSignal): Promise<Container | undefined> {
    signal.throwIfAborted();
    const record = await this.registry.find(id);
    return record && shown(record);
  }

  async named(name: string, signal: AbortSignal): Promise<Container | undefined> {
    signal.throwIfAborted();
    const record = await this.registry.named(name);
    return record && shown(record);
  }

  async list(label: string, signal: AbortSignal): Promise<readonly Container[]> {
    const found: Container[] = [];
    for await (const record of this.registry.all()) {
      signal.throwIfAborted();
      if (carries(record.labels, label)) found.push(await shown(record));
    }
    return found;
  }

  async stop(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const record = await this.registry.find(id);
    if (record) await endProcess(record.process, GRACE_MS, signal);
  }

  async remove(id: string, signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    const record = await this.registry.find(id);
    if (!record) return;
    await endProcess(record.process, 0, signal);
    await this.registry.drop(record);
  }

  override get endsByItself(): boolean {
    return true;
  }

  override tellAlive(): Promise<void> {
    return this.registry.deadlines.tellAlive();
  }

  override endIn(id: string, ms: number): Promise<void> {
    return this.registry.deadlines.set(id, Date.now() + ms);
  }

  /** If this process dies before the record exists, nothing remains; afterwards the container runs on. */
  private async start({
    name,
    image,
    labels,
    endsInMs,
  }: ContainerSpec): Promise<ContainerRecord | undefined> {
    const id = this.registry.newId(name);
    const child = await IdleChild.start(id, this.registry.fileOf(name), this.memoryMb);
    const record = { id, name, image, labels, createdAt: Date.now(), process: child.identity };
    try {
      // Written before the record: the container runs from then on, whichever process dies.
      if (endsInMs !== undefined) await this.registry.deadlines.set(id, Date.now() + endsInMs);
      if (await this.registry.claim(record)) return record;
      await this.registry.deadlines.forget(id);
      return undefined;
    } finally {
      child.release();
    }
  }
}

async function shown({ id, name, labels, createdAt, process }: ContainerRecord): Promise<Container> {
  return { id, name, labels, createdAt, running: await isRunning(process) };
}
