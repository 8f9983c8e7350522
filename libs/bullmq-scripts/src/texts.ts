import { createHash } from 'node:crypto';
import { EventEmitter } from 'node:events';
import { RedisConnection } from 'bullmq';

/** One of BullMQ's own Lua scripts, as the installed package has it. */
export interface BullScript {
  readonly lua: string;
  readonly numberOfKeys: number;
  readonly digest: string;
}

/**
 * BullMQ's scripts by name. BullMQ hands every one of them to `defineCommand` of the client it is given, so a client that
 * only takes notes receives the exact texts without a connection and without reaching into the package's files.
 */
export function readBullScripts(): ReadonlyMap<string, BullScript> {
  if (!known) {
    const client = new NoteTakingClient();
    // Its constructor defines the commands and does nothing else with a client that has ended.
    const connection = new RedisConnection(client, {
      shared: true,
      skipVersionCheck: true,
      skipWaitingForReady: true,
    });
    void connection.client;
    known = client.scripts;
  }
  return known;
}

/** The release of the installed BullMQ, which stands behind the name of every command that it defines. */
export function bullRelease(): string {
  readBullScripts();
  return release;
}

let known: ReadonlyMap<string, BullScript> | undefined;
let release = '';

class NoteTakingClient extends EventEmitter {
  readonly scripts = new Map<string, BullScript>();
  readonly options = {};
  readonly isCluster = false;
  // BullMQ asks a client that has ended for nothing more.
  readonly status = 'end';

  defineCommand(nameAndVersion: string, { lua, numberOfKeys }: { lua: string; numberOfKeys: number }): void {
    const [name, version] = nameAndVersion.split(':') as [string, string];
    release = version;
    this.scripts.set(name, { lua, numberOfKeys, digest: digestOf(lua) });
  }

  connect(): void {}
  disconnect(): void {}
  duplicate(): this {
    return this;
  }
}

/** Long enough to tell known texts from changed ones. */
function digestOf(text: string): string {
  return createHash('sha1').update(text).digest('hex').slice(0, 12);
}
