import { Owners } from '#core';
import {
  Inject,
  Injectable,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
} from '@nestjs/common';
import { setTimeout as pause } from 'node:timers/promises';
import type { Fact } from '../journal/fact.js';
import { Journal } from '../journal/journal.js';
import { MOORING_OPTIONS, type MooringOptions, type Publisher } from '../options.js';
import { MooringStore } from '../store/mooring-store.js';

/** How long only the process that takes an entry looks at it; as in `cancel.lua` for new ones. */
const RESERVED_MS = 5_000;
const RELAY_EVERY_MS = 2_000;
const ENTRIES_A_TURN = 50;
/** The end of the runs takes most of the time for a shutdown. */
const STOPS_WITHIN_MS = 2_000;
const CANCEL = 'cancel ';
const HEARD = 'heard ';

// Entries that are due come to one process at a time: the others see them when its time is over.
const TAKE_DUE = `
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, ARGV[1])
for _, entry in ipairs(due) do redis.call('ZADD', KEYS[1], now + ARGV[2], entry) end
return due`;
// The listeners of this process have heard of the cancel. Answers 0 if another process was first.
const NOTE_HEARD = `
local isOurs = redis.call('ZREM', KEYS[1], ARGV[1])
if isOurs == 1 then redis.call('ZADD', KEYS[1], ARGV[3], ARGV[2]) end
return isOurs`;
/** These add no entries: also a store that is full takes them. An older one knows no flags. */
const FLAGS = '#!lua flags=allow-oom\n';
const FIRST_WITH_FLAGS = 7;

/**
 * Facts that other services are told at least once, whichever process dies: entries stay until the publisher has written them. Every process
 * with a publisher looks for what others have left. The listeners of such a process hear of cancels whose own process died before it told
 * its listeners.
 *
 *     <prefix>~outbox        zset: entries, by when they are looked at next, ms: `cancel <cancelId>`, `heard <cancelId>` once the listeners
 *                            of a process have heard of it, or the id of a fact
 *     <prefix>~outbox-facts  hash: id -> the fact, JSON
 */
@Injectable()
export class Outbox implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly publisher: Publisher | undefined;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<unknown> | undefined;
  private isRelaying = false;
  private isStopping = false;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(
    @Inject(MOORING_OPTIONS) { publisher }: MooringOptions,
    private readonly store: MooringStore,
    @Inject(Owners) private readonly owners: Owners,
    private readonly journal: Journal,
  ) {
    this.publisher = publisher;
    if (!publisher) return;
    // The step of a cancel has entered it. One whose jobs still run is told when they have ended.
    journal.listen((fact) => {
      if (fact.event === 'owner.cancelled' && !fact.jobOnly && !this.isRelaying)
        this.begin(() => this.lookAtHeard(fact.cancelId));
    });
  }

  onApplicationBootstrap(): void {
    if (!this.publisher) return;
    const relay = (): void => {
      this.turn ??= this.relayAll().finally(() => (this.turn = undefined));
    };
    this.timer = setInterval(relay, RELAY_EVERY_MS).unref();
  }

  /** What this process has done is told by itself, if the store answers. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.isStopping = true;
    await Promise.race([
      Promise.all([this.turn, ...this.underWay]),
      pause(STOPS_WITHIN_MS, undefined, { ref: false }),
    ]);
  }

  /** The commands that enter a fact, for a step that records what it tells. None if nothing is told to other services. */
  entry(id: string, fact: Fact): [command: string, ...args: (string | number)[]][] {
    if (!this.publisher) return [];
    return [
      ['hset', this.facts, id, JSON.stringify(fact)],
      ['zadd', this.entries, Date.now() + RESERVED_MS, id],
    ];
  }

  /** Tells a fact that its step has entered. */
  async tell(id: string, fact: Fact): Promise<void> {
    this.journal.tellHere(fact);
    if (this.publisher) await this.attempt(() => this.look(id));
  }

  private async relayAll(): Promise<void> {
    while ((await this.relay()) === ENTRIES_A_TURN && !this.isStopping);
  }

  /** What other processes have left. Answers how many entries were taken. */
  async relay(): Promise<number> {
    const due = await this.attempt(() => this.run<string[]>(TAKE_DUE, ENTRIES_A_TURN, RESERVED_MS));
    for (const entry of due ?? [])
      await this.attempt(() =>
        entry.startsWith(CANCEL) ? this.relayCancel(entry.slice(CANCEL.length)) : this.look(entry),
      );
    return due?.length ?? 0;
  }

  private async relayCancel(cancelId: string): Promise<void> {
    const receipt = await this.owners.receipt(cancelId);
    if (!receipt) return this.leave(CANCEL + cancelId);
    try {
      this.isRelaying = true;
      this.journal.tellHere({ event: 'owner.cancelled', ...receipt });
    } finally {
      this.isRelaying = false;
    }
    await this.lookAtHeard(cancelId);
  }

  private async lookAtHeard(cancelId: string): Promise<void> {
    const reserved = Date.now() + RESERVED_MS;
    const isOurs = await this.run<number>(NOTE_HEARD, CANCEL + cancelId, HEARD + cancelId, reserved);
    if (isOurs === 1) await this.look(HEARD + cancelId);
  }

  private async look(entry: string): Promise<void> {
    const fact = await this.factOf(entry);
    // A fact that turns out to be none for others leaves as well.
    if (fact === 'early' || (fact && (await this.publisher!.publish(fact)) === false)) return;
    await this.leave(entry);
  }

  private async leave(entry: string): Promise<void> {
    await this.store.call('zrem', this.entries, entry);
    await this.store.call('hdel', this.facts, entry);
  }

  private async run<Answer>(script: string, ...args: readonly (string | number)[]): Promise<Answer> {
    const { backend } = this.store;
    await backend.client;
    const flags = parseInt(backend.redisVersion, 10) >= FIRST_WITH_FLAGS ? FLAGS : '';
    return this.store.call<Answer>('eval', flags + script.trimStart(), 1, this.entries, ...args);
  }

  private async factOf(entry: string): Promise<Fact | 'early' | undefined> {
    if (!entry.startsWith(HEARD)) {
      const text = await this.store.call<string | null>('hget', this.facts, entry);
      return text === null ? undefined : (JSON.parse(text) as Fact);
    }
    const receipt = await this.owners.receipt(entry.slice(HEARD.length));
    if (receipt && !receipt.done) return 'early';
    return receipt && { event: 'owner.cancelled', ...receipt };
  }

  private begin(telling: () => Promise<void>): void {
    const told = this.attempt(telling).finally(() => this.underWay.delete(told));
    this.underWay.add(told);
  }

  /** An entry that could not be told is looked at again when its time is over. */
  private attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
    return work().catch((error: unknown) => {
      this.journal.trouble('The outbox', error);
      return undefined;
    });
  }

  private get entries(): string {
    return `${this.store.root}~outbox`;
  }

  private get facts(): string {
    return `${this.store.root}~outbox-facts`;
  }
}
