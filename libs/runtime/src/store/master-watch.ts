import { Redis, SentinelConnector, type RedisOptions, type SentinelConnectionOptions } from 'ioredis';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

type Connect = SentinelConnector['connect'];

const SWITCHED = '+switch-master';
const RETRY_MS = 1_000;
/** A master that is paused closes no connection by itself. */
const CLOSE_MS = 500;
/** Longer than the Sentinels need to agree: until then one of them may still name the old master. */
const AGREED_MS = 10_000;

interface Address {
  readonly host: string;
  readonly port: number;
}

/**
 * Takes every connection off a master that the Sentinels have replaced. Such a connection does not break by itself until
 * they demote the old master, some ten seconds later, and what it is answered meanwhile is lost.
 *
 * ioredis has a `failoverDetector` for that. It is not used: when the old master died, its word comes while a connection asks
 * the Sentinels for the new one, and the client ends for good instead of trying again.
 */
export class MasterWatch {
  private readonly sentinels: readonly Redis[];
  private readonly connections = new Set<Socket>();
  private readonly replaced = new Map<string, number>();

  constructor(
    addresses: readonly Address[],
    private readonly master: string,
    isEncrypted: boolean,
  ) {
    this.sentinels = addresses.map((address) => this.listen(address, isEncrypted));
  }

  /** Looks after a connection to what a Sentinel said is the master. */
  guard(stream: Duplex): void {
    const connection = stream as Socket;
    this.connections.add(connection);
    connection.once('connect', () => {
      if (this.isReplaced(addressOf(connection))) leave(connection);
    });
    connection.once('close', () => this.connections.delete(connection));
  }

  close(): void {
    for (const sentinel of this.sentinels) sentinel.disconnect();
  }

  private listen({ host, port }: Address, isEncrypted: boolean): Redis {
    const sentinel = new Redis({
      host,
      port,
      ...(isEncrypted && { tls: {} }),
      enableReadyCheck: false,
      maxRetriesPerRequest: null,
      retryStrategy: () => RETRY_MS,
    });
    // A Sentinel that is away is said by the connections that ask it for the master.
    sentinel.on('error', () => undefined);
    sentinel.on('message', (_channel: string, text: string) => this.heed(text));
    sentinel.subscribe(SWITCHED).catch(() => undefined);
    return sentinel;
  }

  /** Each Sentinel says so when it knows: `<name> <old host> <old port> <new host> <new port>`. */
  private heed(text: string): void {
    const [name, oldHost, oldPort, host, port] = text.split(' ');
    if (name !== this.master) return;
    this.replaced.set(`${oldHost}:${oldPort}`, performance.now());
    this.replaced.delete(`${host}:${port}`);
    for (const connection of this.connections) {
      if (addressOf(connection) !== `${host}:${port}`) leave(connection);
    }
  }

  private isReplaced(address: string): boolean {
    const at = this.replaced.get(address);
    return at !== undefined && performance.now() - at < AGREED_MS;
  }
}

function addressOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress}:${remotePort}`;
}

/** The client connects again, and sends again what was not answered. */
function leave(connection: Socket): void {
  if (connection.connecting) return;
  connection.end();
  setTimeout(() => connection.destroy(), CLOSE_MS).unref();
}

/** How a client, and each copy that BullMQ makes of it, gets to the master: by the Sentinels, and under the watch. */
export function watchedConnector(watch: MasterWatch): NonNullable<RedisOptions['Connector']> {
  return class extends SentinelConnector {
    constructor(options: unknown) {
      super(options as SentinelConnectionOptions);
    }

    override async connect(...args: Parameters<Connect>): ReturnType<Connect> {
      const stream = await super.connect(...args);
      watch.guard(stream);
      return stream;
    }
  };
}
