import { Injectable } from '@nestjs/common';
import { MooringStore, type Command, type StoreLock } from '../store/mooring-store.js';
import { isOver, type OperationRecord } from './operation.js';

const KEPT_MS = 7 * 86_400_000;
const RECORDS_KEPT = 200;

export interface KnownOperation {
  readonly record: OperationRecord;
  /** Who stopped it, if it was. */
  readonly stoppedBy: string | undefined;
}

/**
 * The records of operations: `operation~<id>` (hash: `record`, JSON, and `stop`: who stopped it), `operations` (ids by when they began,
 * ms) and `operations-open` (ids of those that are not over). A stop is a field of its own, which the process at work does not write.
 */
@Injectable()
export class OperationBook {
  constructor(private readonly store: MooringStore) {}

  async save(record: OperationRecord, lock?: StoreLock): Promise<void> {
    const { operationId: id } = record;
    const [key, beganAt] = [this.key(id), Date.parse(record.startedAt)];
    const commands: Command[] = [
      ['HSET', key, 'record', JSON.stringify(record)],
      ['PEXPIRE', key, KEPT_MS],
      ['ZADD', this.all, beganAt, id],
      ['ZREMRANGEBYRANK', this.all, 0, -RECORDS_KEPT - 1],
      isOver(record) ? ['ZREM', this.open, id] : ['ZADD', this.open, beganAt, id],
    ];
    await this.store.write(commands, lock);
  }

  async find(id: string): Promise<KnownOperation | undefined> {
    const [text, stop] = await this.store.call<(string | null)[]>('hmget', this.key(id), 'record', 'stop');
    if (!text) return undefined;
    return { record: JSON.parse(text) as OperationRecord, stoppedBy: stop ?? undefined };
  }

  /** The newest first. `next` is null after the last page. */
  async page(from: number, size: number): Promise<{ found: KnownOperation[]; next: number | null }> {
    const ids = await this.store.call<string[]>('zrevrange', this.all, from, from + size);
    const found = await Promise.all(ids.slice(0, size).map((id) => this.find(id)));
    return {
      found: found.filter((each) => each !== undefined),
      next: ids.length > size ? from + size : null,
    };
  }

  /** Ids of operations that are not over, the oldest first. */
  async openIds(): Promise<string[]> {
    return this.store.call<string[]>('zrange', this.open, 0, RECORDS_KEPT - 1);
  }

  async markStopped(id: string, by: string): Promise<void> {
    await this.store.write([['HSET', this.key(id), 'stop', by]]);
  }

  /** Of a record that has expired. */
  async forget(id: string): Promise<void> {
    await this.store.write([['ZREM', this.open, id]]);
  }

  private key(id: string): string {
    return this.store.key('operation', id);
  }

  private get all(): string {
    return this.store.key('operations');
  }

  private get open(): string {
    return this.store.key('operations-open');
  }
}
