import { Injectable } from '@nestjs/common';
import { OwnerClosedError, SchedulesFullError } from '../errors.js';
import { CLOSED_KEEP_MS, Keys, RECORD_KEEP_MS } from '../keys.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { ScriptBatch } from '../script-batch.js';

const MAX_PER_OWNER = 100;
const PAGE = 100;

/** A schedule as it is noted with an owner. */
export interface Mooring {
  readonly schedule: string;
  readonly epoch: number;
  readonly change: number;
}

/** Notes with each owner which schedules are its own, so that they are found when it goes. */
@Injectable()
export class Moorings {
  private readonly keys: Keys;
  private readonly mooring: ScriptBatch;
  private readonly unmooring: ScriptBatch;

  constructor(private readonly options: LifecycleOptions) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
    this.mooring = new ScriptBatch(options.redis, 'moor', () => ['']);
    this.unmooring = new ScriptBatch(options.redis, 'unmoor', () => ['', RECORD_KEEP_MS, CLOSED_KEEP_MS]);
  }

  /** The epoch of each owner. Refused when one is closed, or has as many schedules as it may. */
  async moor(owners: readonly string[], schedule: string, change: string): Promise<string[]> {
    // All of them answer before one's refusal counts: what comes late would stay behind.
    const answers = await Promise.allSettled(owners.map((owner) => this.moorOne(owner, schedule, change)));
    return answers.map((answer) => {
      if (answer.status === 'rejected') throw answer.reason;
      return answer.value;
    });
  }

  /** Whether the owners are still what they were; a cancel changes their epoch. */
  async hold(owners: readonly string[], epochs: readonly string[]): Promise<boolean> {
    const { redis } = this.options;
    const found = await Promise.all(owners.map((owner) => redis.hget(this.keys.ownerText(owner), 'e')));
    return found.every((epoch, i) => epoch === epochs[i]);
  }

  async unmoor(owner: string, schedule: string, change: string | number): Promise<void> {
    await this.unmooring.ask(this.keys.ownerText(owner), [schedule, change]);
  }

  /** A page of them, and where the next one begins; '0' when there is none. */
  async of(owner: string, cursor: string): Promise<{ moorings: Mooring[]; next: string }> {
    const name = `${this.keys.ownerText(owner)}:schedules`;
    const [next, fields] = await this.options.redis.hscan(name, cursor, 'COUNT', PAGE);
    const moorings: Mooring[] = [];
    for (let i = 0; i < fields.length; i += 2) {
      const [epoch, change] = fields[i + 1]!.split('|');
      moorings.push({ schedule: fields[i]!, epoch: Number(epoch), change: Number(change) });
    }
    return { moorings, next };
  }

  private async moorOne(owner: string, schedule: string, change: string): Promise<string> {
    const args = [owner, schedule, change, MAX_PER_OWNER];
    const [word, rest] = await this.mooring.ask(this.keys.ownerText(owner), args);
    if (word === 'closed') throw new OwnerClosedError(owner);
    if (word === 'full') throw new SchedulesFullError(owner, Number(rest));
    return rest!;
  }
}
