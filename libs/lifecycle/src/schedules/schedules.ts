import { Injectable } from '@nestjs/common';
import { StoreUnavailableError } from '../errors.js';
import { Journal } from '../journal.js';
import { digest } from '../keys.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { Kind } from '../kinds/kind.js';
import { formatOwner, type Owner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { Store } from '../store.js';
import { Moorings, type Mooring } from './moorings.js';
import { ScheduleBook, type Plan } from './schedule.book.js';
import { checkScheduleId, readSchedule, type ScheduleOptions, type ScheduleView } from './schedule.js';
import { nextAfter } from './timing.js';

/** How often a change begins anew because another one overtook it. */
const ROUNDS = 5;
const PAGE = 100;

/**
 * Jobs that come again and again. A schedule belongs to owners, as they were when it was made, and ends with them: its
 * jobs carry the epochs that it was made under, so that none starts after a cancel, whatever has become of the schedule.
 */
@Injectable()
export class Schedules {
  private readonly maxPayloadBytes: number;

  constructor(
    options: LifecycleOptions,
    private readonly kinds: KindRegistry,
    private readonly store: Store,
    private readonly book: ScheduleBook,
    private readonly moorings: Moorings,
    private readonly journal: Journal,
  ) {
    this.maxPayloadBytes = options.maxPayloadBytes ?? LIFECYCLE_DEFAULTS.maxPayloadBytes;
  }

  /** Makes a schedule, or takes the place of the one of that id. With the same timing it goes on when that was due. */
  async put(
    id: string,
    kind: Kind,
    options: ScheduleOptions,
  ): Promise<{ outcome: 'created' | 'replaced'; schedule: ScheduleView }> {
    this.kinds.get(kind.name);
    const { definition, owners } = readSchedule(id, kind, options, this.maxPayloadBytes);
    const name = digest(id);
    return this.store.call(async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const { change, nowMs } = await this.book.begin(name, owners);
        try {
          const epochs = await this.moorings.moor(owners, name, change);
          const dueMs = nextAfter(definition.timing, nowMs);
          const outcome = await this.book.finish({ name, id, definition, owners, epochs, dueMs }, change);
          if (outcome === 'overtaken') continue;
          const plan = await this.book.read(name);
          if (!plan) continue;
          if (await this.moorings.hold(plan.owners, plan.epochs)) return { outcome, schedule: toView(plan) };
          // A cancel that came before it was written found nothing to end. It was not accepted yet: it comes after.
          await this.strike(name, plan);
        } finally {
          await this.tidy(name, change);
        }
      }
      throw new StoreUnavailableError('This schedule changes too fast to follow.');
    });
  }

  /** The schedule, or `undefined` when there is none of that id. */
  async read(id: string): Promise<ScheduleView | undefined> {
    checkScheduleId(id);
    const plan = await this.store.call(() => this.book.read(digest(id)));
    return plan && toView(plan);
  }

  /** A page of about a hundred, in no order; `cursor` says where the next one begins, null on the last one. */
  async list(cursor = '0'): Promise<{ schedules: ScheduleView[]; cursor: string | null }> {
    const { plans, next } = await this.store.call(() => this.book.page(cursor, PAGE));
    return { schedules: plans.map(toView), cursor: next === '0' ? null : next };
  }

  /** Whether there was one. Jobs that it has made go on. */
  remove(id: string): Promise<boolean> {
    checkScheduleId(id);
    return this.store.call(() => this.strike(digest(id)));
  }

  /**
   * Ends the schedules that an owner had up to an epoch; answers their ids. To be called when that is over. Whoever wants to
   * note it is told of each just before it ends; told again should that fail.
   */
  async removeOf(
    owner: Owner,
    upToEpoch: string | number,
    note: (plan: Plan) => Promise<unknown> = () => Promise.resolve(),
  ): Promise<string[]> {
    const text = formatOwner(owner);
    const ended: string[] = [];
    let cursor = '0';
    do {
      const { moorings, next } = await this.store.call(() => this.moorings.of(text, cursor));
      cursor = next;
      const over = moorings.filter(({ epoch }) => epoch <= Number(upToEpoch));
      const ids = await Promise.all(
        over.map((mooring) =>
          this.store.call(() => this.removeMoored(text, mooring, Number(upToEpoch), note)),
        ),
      );
      ended.push(...ids.filter((id) => id !== undefined));
    } while (cursor !== '0');
    return ended;
  }

  /** An owner of it was cancelled. */
  async end(plan: Plan): Promise<void> {
    if (await this.strike(plan.name, plan))
      this.journal.scheduleEnded(plan.id, plan.owners[0]!, 'its owner was cancelled');
  }

  /** Takes back what a change has noted with owners to no purpose; without one, what is left of those that died. */
  async tidy(name: string, change?: string): Promise<void> {
    const undone = await this.book.undone(name, change);
    if (undone.length === 0) return;
    await Promise.all(undone.map((one) => this.moorings.unmoor(one.owner, name, one.change)));
    await this.book.done(name, undone);
  }

  private async removeMoored(
    owner: string,
    mooring: Mooring,
    upTo: number,
    note: (plan: Plan) => Promise<unknown>,
  ): Promise<string | undefined> {
    const plan = await this.book.read(mooring.schedule);
    const epoch = plan?.epochs[plan.owners.indexOf(owner)];
    if (plan && epoch !== undefined && Number(epoch) <= upTo) {
      await note(plan);
      if (await this.strike(plan.name, plan)) {
        this.journal.scheduleEnded(plan.id, owner, 'its owner was cancelled');
        return plan.id;
      }
    }
    // A schedule that is this owner's no more, or is another by now: then its note is newer.
    await this.moorings.unmoor(owner, mooring.schedule, mooring.change);
    return undefined;
  }

  private async strike(name: string, plan?: Plan): Promise<boolean> {
    const change = await this.book.strike(name, plan?.epochs);
    if (change !== undefined) await this.tidy(name, change);
    return change !== undefined;
  }
}

function toView({ id, definition, owners, dueMs, lastMs, lastJobId, error }: Plan): ScheduleView {
  const { kind, timing } = definition;
  return {
    id,
    kind,
    owners,
    every: 'every' in timing ? timing.every : null,
    cron: 'cron' in timing ? timing.cron : null,
    timezone: 'cron' in timing ? timing.timezone : null,
    nextAt: new Date(dueMs).toISOString(),
    lastAt: lastMs === undefined ? null : new Date(lastMs).toISOString(),
    lastJobId: lastJobId ?? null,
    state: error === undefined ? 'active' : 'failing',
    error: error ?? null,
  };
}
