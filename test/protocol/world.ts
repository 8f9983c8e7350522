import type { Redis } from 'ioredis';
import { History, noTriggerIsLost, type JobPast, type RunPast, type Trigger } from './history.js';
import { KEEP_MS, LEASE_MS, OwnerCalls, type Cancel, type Reserve, type Strategy } from './owner.calls.js';
import type { ScriptRunner } from './script-runner.js';

/** What somebody does next. Whom and what it is about follows from `pick`; the answer may be lost, and the call sent again. */
export interface Step {
  readonly what: keyof typeof STEPS;
  readonly pick: number;
  readonly isLost: boolean;
}

interface Producer {
  readonly call: Reserve;
  readonly life: number | '';
  job: JobPast | undefined;
  at: number;
}

/** A job as its queue holds it. */
interface Queued {
  readonly job: JobPast;
  readonly reservedAt: number;
  readonly life: number | '';
  holder: Worker | undefined;
}

interface Worker {
  readonly item: Queued;
  readonly token: string;
  run: RunPast | undefined;
}

/** What there is to do, and how often. */
const STEPS = {
  produce: 6,
  answerProducer: 7,
  killProducer: 1,
  pickUp: 6,
  stall: 2,
  begin: 9,
  renew: 3,
  commit: 3,
  end: 4,
  leave: 4,
  killWorker: 2,
  cancel: 1,
  cancelJob: 2,
  cancelAgain: 1,
  reopen: 2,
  drop: 2,
  cleanUp: 1,
  wait: 1,
  waitForAnEdge: 2,
  forget: 1,
};

export const WEIGHTED = Object.entries(STEPS).flatMap(([what, weight]) =>
  Array.from({ length: weight }, () => what as Step['what']),
);

/** The key of jobs that may only start for so long. */
const MORTAL = 'k2';
const STRATEGIES: readonly Strategy[] = ['skip', 'replace', 'coalesce'];
/** A far day: time is moved by hand, and no epoch is like one of today. */
const START = 1_900_000_000_000;

/**
 * An owner's producers, workers and cancellers, any of which may die, hang or call twice, and a queue that adds what it
 * does not have. They call the scripts; what comes of it is told to the history.
 */
export class World {
  readonly history = new History();
  private readonly calls: OwnerCalls;
  private readonly queue = new Map<string, Queued>();
  private readonly triggers: Trigger[] = [];
  private readonly cancels: Cancel[] = [];
  /** Epochs up to which a cancel has ended jobs, with its id. */
  private readonly over: { readonly cancelId: string; readonly upTo: string }[] = [];
  private readonly goneIds: string[] = [];
  private producers: Producer[] = [];
  private workers: Worker[] = [];
  /** Have left their queue, and not yet the index. */
  private leaving: JobPast[] = [];
  private now = START;
  private reopenedAt = START;
  private count = 0;

  constructor(
    run: ScriptRunner,
    private readonly redis: Redis,
    record: string,
  ) {
    this.calls = new OwnerCalls(run, record);
  }

  async live(steps: readonly Step[]): Promise<void> {
    for (const step of steps) await this.take(step);
    this.producers = [];
    await this.workOff();
    noTriggerIsLost(this.history, this.triggers);
    for (const { cancelId } of this.cancels) await this.readReceipt(cancelId);
  }

  private take({ what, pick, isLost }: Step): Promise<void> | void {
    const producer = at(this.producers, pick);
    const worker = at(this.workers, pick);
    switch (what) {
      case 'produce':
        return this.produce(pick, isLost);
      case 'answerProducer':
        return producer && this.answer(producer, pick);
      case 'killProducer':
        this.producers = this.producers.filter((one) => one !== producer);
        return;
      case 'pickUp':
      case 'stall':
        return this.pickUp(pick, what === 'stall');
      case 'begin':
        return this.beginSome(pick, isLost);
      case 'renew':
        return this.withRun(pick, (one) => this.renew(one, isLost));
      case 'commit':
        return this.withRun(pick, (one) => this.commit(one, isLost));
      case 'end':
        return this.withRun(pick, (one) => this.endRun(one, pick % 3 > 0));
      case 'leave':
        return this.leave(at(this.leaving, pick));
      case 'killWorker':
        return worker && this.release(worker);
      case 'cancel':
        return this.cancel({
          cancelId: this.name('c'),
          close: pick % 4 === 0,
          ...(pick % 3 === 0 && {
            occurredAt: at([this.reopenedAt - 1, this.reopenedAt, this.now], Math.floor(pick / 3))!,
          }),
        });
      case 'cancelJob':
        return this.cancelJob(pick);
      case 'cancelAgain':
        return this.cancel(at(this.cancels, pick) ?? { cancelId: this.name('c') });
      case 'reopen':
        return this.reopen();
      case 'drop':
        return this.drop(at(this.history.indexed, pick), pick);
      case 'cleanUp':
        return this.cleanUp();
      case 'wait':
        this.now += 1 + (pick % LEASE_MS);
        return;
      case 'waitForAnEdge':
        return this.waitForAnEdge(pick);
      case 'forget':
        return this.forget(pick);
    }
  }

  private async produce(pick: number, isLost: boolean): Promise<void> {
    const key = ['', 'k1', MORTAL, 'k1'][pick % 4]!;
    const job = this.idToUseAgain(pick) ?? this.name('j');
    const strategy = key === '' ? '' : STRATEGIES[Math.floor(pick / 4) % 3]!;
    const call: Reserve = { job, strategy, key, payload: this.name('p') };
    const life = key === MORTAL || (key === '' && pick % 3 === 0) ? 20 + (pick % 150) : '';
    const producer: Producer = { call, life, job: undefined, at: 0 };
    this.producers.push(producer);
    await this.reserve(producer, isLost);
  }

  private async reserve(producer: Producer, isLost: boolean): Promise<void> {
    const answer = await this.calls.reserve(this.now, producer.call);
    if (answer[0] === 'closed') {
      this.history.refused(answer);
      this.producers = this.producers.filter((one) => one !== producer);
      return;
    }
    const job = this.history.reserved(this.now, producer.call, answer);
    if (isLost) return;
    producer.job = job;
    // Its own job was accepted when it was reserved first, however often that was asked.
    producer.at = job.id === producer.call.job ? job.reservedAt : this.history.at;
  }

  /** Sends again what was not answered; adds the job when it was, and is done. */
  private async answer(producer: Producer, pick: number): Promise<void> {
    const { call, life } = producer;
    this.producers = this.producers.filter((one) => one !== producer);
    // Its first call was before a cancel, and another has added its job: what it would add is not what it reserved.
    if (!producer.job && this.isInHand(call.job) && !this.history.life(call.job, this.history.epoch ?? ''))
      return;
    // It was cancelled while its producer waited; whose id it is knows that.
    if (!producer.job && this.history.life(call.job, this.history.epoch ?? '')?.isCancelled) return;
    if (!producer.job) await this.reserve(producer, false);
    const { job } = producer;
    if (!job) return;
    this.add(job, life);
    this.triggers.push({ at: producer.at, strategy: call.strategy, job });
    const [word, replaced] = job.answer;
    const isToTidy = word === 'replace' && job.id === call.job && job.epoch === this.history.epoch;
    // One whose producer asked again, after it had ended, has its place anew.
    const pending = await this.redis.hget(`${this.calls.record}:dedup`, job.key);
    if (isToTidy && pending !== `${job.epoch}|${replaced}` && pick % 2 === 0) this.remove(replaced!);
  }

  private add(job: JobPast, life: number | ''): void {
    if (this.queue.has(job.id)) return;
    this.queue.set(job.id, { job, reservedAt: job.reservedAt, life, holder: undefined });
  }

  private remove(id: string): void {
    const item = this.queue.get(id);
    if (!item || item.holder) return;
    this.queue.delete(id);
    this.goneIds.push(id);
    this.leaving.push(item.job);
  }

  /** Late: the id may have another life by now. */
  private async leave(job: JobPast | undefined): Promise<void> {
    if (!job) return;
    this.leaving = this.leaving.filter((one) => one !== job);
    await this.end(job, '', true);
  }

  private pickUp(pick: number, isStalled: boolean): void {
    const item = at(
      [...this.queue.values()].filter(({ holder }) => (holder !== undefined) === isStalled),
      pick,
    );
    if (!item) return;
    item.holder = { item, token: this.name('t'), run: undefined };
    this.workers.push(item.holder);
  }

  private async beginSome(pick: number, isLost: boolean): Promise<void> {
    const worker = at(
      this.workers.filter(({ run }) => !run),
      pick,
    );
    if (worker) await this.begin(worker, isLost);
  }

  private async begin(worker: Worker, isLost: boolean): Promise<void> {
    const { item, token } = worker;
    const { job, life, reservedAt } = item;
    const call = { job: job.id, token, epoch: job.epoch, life, key: job.key };
    const answer = await this.calls.begin(this.now, call);
    this.history.begun(this.now, call, reservedAt, answer);
    if (isLost) return;
    if (answer[0] === 'run') worker.run = this.history.runOf(job.id, token);
    else if (answer[0] === 'skip' || answer[0] === 'done') this.endRefused(worker);
    else this.release(worker);
  }

  private endRefused(worker: Worker): void {
    const { item } = worker;
    const isMine = this.owns(worker);
    this.release(worker);
    if (isMine) this.remove(item.job.id);
  }

  private async renew(worker: Worker, isLost: boolean): Promise<void> {
    const { job, token } = worker.run!;
    const answer = await this.calls.renew(this.now, { job: job.id, token, epoch: job.epoch });
    this.history.renewed(this.now, worker.run!, answer);
    if (isLost || answer[0] === 'ok') return;
    if (answer[0] === 'cancelled') await this.endRun(worker, true);
    else this.release(worker);
  }

  private async commit(worker: Worker, isLost: boolean): Promise<void> {
    const run = worker.run!;
    const { job, token, fence } = run;
    const call = { job: job.id, token, epoch: job.epoch, fence, result: `result of ${token}` };
    const answer = await this.calls.commit(call);
    this.history.committed(run, call, answer);
    if (!isLost && answer[0] !== 'ok' && this.owns(worker)) this.release(worker);
  }

  /** An overtaken run may believe that it ends its job; its queue knows better. */
  private async endRun(worker: Worker, isFinal: boolean): Promise<void> {
    const { item, token } = worker;
    const isMine = this.owns(worker);
    const leaves = isFinal && (isMine || this.history.isOvertaken(item.job, token));
    if (leaves && isMine) this.queue.delete(item.job.id);
    if (leaves && isMine) this.goneIds.push(item.job.id);
    this.release(worker);
    await this.end(item.job, token, leaves);
  }

  private async end(job: JobPast, token: string, leaves: boolean, key = job.key): Promise<void> {
    const call = { job: job.id, token, leaves, key, epoch: job.epoch };
    this.history.ended(this.now, call, job, await this.calls.end(this.now, call));
  }

  private async cancel(cancel: Cancel): Promise<void> {
    const answer = await this.calls.cancel(this.now, cancel);
    this.history.cancelled(this.now, cancel, answer);
    this.cancels.push(cancel);
    if (answer[0] !== 'cancelled') return;
    const upTo = cancel.job === undefined ? answer[2]! : '0';
    this.over.push({ cancelId: cancel.cancelId, upTo });
  }

  /** Most often one that is there, or has run. */
  private async cancelJob(pick: number): Promise<void> {
    const job = at(this.history.indexed, pick)?.id ?? at(this.goneIds, pick);
    if (job !== undefined) await this.cancel({ cancelId: this.name('c'), job });
  }

  private async reopen(): Promise<void> {
    this.reopenedAt = this.now;
    this.history.reopened(this.now, await this.calls.reopen(this.now));
  }

  /** As a clean-up does that found its job gone, in the name of any cancel. */
  private async drop(job: JobPast | undefined, pick: number): Promise<void> {
    const over = at(this.over, pick);
    if (!job || !over || this.queue.has(job.id)) return;
    const call = { ...over, job: job.id, key: job.key };
    this.history.dropped(this.now, call, await this.calls.drop(this.now, call));
  }

  /** Which cancel has ended it. */
  private overOf({ isCancelled, epoch }: JobPast): number {
    const least = isCancelled ? 0 : Number(epoch);
    return this.over.findIndex(({ upTo }) => least <= Number(upTo));
  }

  private async readReceipt(cancelId: string): Promise<void> {
    const fields = Object.entries(await this.redis.hgetall(`${this.calls.record}:cancel:${cancelId}`));
    const removed = fields.filter(([name]) => name.startsWith('n:')).map(([, n]) => Number(n));
    const told = fields.filter(([name]) => name.startsWith('run:'));
    this.history.counted(
      cancelId,
      removed.reduce((sum, n) => sum + n, 0),
      told.length,
    );
  }

  private async cleanUp(): Promise<void> {
    for (const { job } of this.queue.values()) if (job.epoch !== this.history.epoch) this.remove(job.id);
    await this.repair();
  }

  /** Just before, at, or just after the end of a lease, or of the time a job may start in. */
  private waitForAnEdge(pick: number): void {
    const edges = [...this.history.runs.values()]
      .filter(({ isOver }) => !isOver)
      .map(({ leaseEnd }) => leaseEnd);
    for (const { job, life } of this.queue.values()) if (life !== '') edges.push(job.wantedAt + life);
    const ahead = edges.flatMap((edge) => [edge - 1, edge, edge + 1]).filter((edge) => edge > this.now);
    this.now = at(ahead, pick) ?? this.now + 1;
  }

  /** The owner's record expires, if it is to: more likely after everything came to rest. */
  private async forget(pick: number): Promise<void> {
    if (pick % 3 === 0) await this.workOff();
    if ((await this.redis.pttl(this.calls.record)) <= 0) return;
    this.now += KEEP_MS + 1;
    await this.redis.del(this.calls.record);
    this.history.forgotten();
  }

  /** Every worker has died; what their queue still holds is run, and what it lost is put back or given up. */
  private async workOff(): Promise<void> {
    for (const worker of this.workers) this.release(worker);
    this.now += LEASE_MS + 1;
    for (const job of this.leaving) await this.leave(job);
    await this.repair();
    for (const item of this.queue.values()) {
      const worker: Worker = { item, token: this.name('t'), run: undefined };
      item.holder = worker;
      this.workers.push(worker);
      await this.begin(worker, false);
      if (!worker.run) continue;
      await this.commit(worker, false);
      await this.endRun(worker, true);
    }
  }

  /**
   * What stands in the index and in no queue, nobody being about to add it: it is added if it took another's place, or
   * leaves the index, which does not say what its key was.
   */
  private async repair(): Promise<void> {
    const expected = new Set(this.producers.flatMap(({ call, job }) => [call.job, job?.id]));
    for (const { id } of this.leaving) expected.add(id);
    for (const job of this.history.indexed) {
      if (this.queue.has(job.id) || expected.has(job.id)) continue;
      const late = await this.redis.hget(`${this.calls.record}:late`, job.id);
      if (this.history.isLeftToCleanUp(job)) await this.drop(job, this.overOf(job));
      else if (late !== null && job.epoch === this.history.epoch) this.add(job, '');
      else await this.end(job, '', true, '');
    }
  }

  private release(worker: Worker): void {
    this.workers = this.workers.filter((one) => one !== worker);
    if (worker.item.holder === worker) worker.item.holder = undefined;
  }

  private owns(worker: Worker): boolean {
    return this.queue.get(worker.item.job.id) === worker.item && worker.item.holder === worker;
  }

  /** An id of an epoch that is over. */
  private idToUseAgain(pick: number): string | undefined {
    if (pick % 5 > 0) return undefined;
    const epoch = this.history.epoch ?? '';
    const ids = this.goneIds.filter((id) => !this.isInHand(id) && !this.history.life(id, epoch));
    return at(ids, pick);
  }

  /** A queue has it, or a worker or a producer that has not heard what became of it. */
  private isInHand(id: string): boolean {
    return (
      this.queue.has(id) ||
      this.producers.some(({ call, job }) => call.job === id || job?.id === id) ||
      this.workers.some(({ run, item }) => !run && item.job.id === id)
    );
  }

  private async withRun(pick: number, act: (worker: Worker) => Promise<void>): Promise<void> {
    const worker = at(
      this.workers.filter(({ run }) => run),
      pick,
    );
    if (worker) await act(worker);
  }

  private name(letter: string): string {
    this.count += 1;
    return `${letter}${this.count}`;
  }
}

function at<T>(list: readonly T[], pick: number): T | undefined {
  return list[pick % Math.max(1, list.length)];
}
