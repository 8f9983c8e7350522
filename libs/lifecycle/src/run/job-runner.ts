import { Injectable } from '@nestjs/common';
import { DelayedError, WaitingChildrenError, type Job } from 'bullmq';
import { randomBytes } from 'node:crypto';
import { Admission } from '../enqueue/admission.js';
import { UnreadablePayloadError } from '../errors.js';
import { checkChildren } from '../flows/children.js';
import { Gate, type Verdict } from '../gate/gate.js';
import { Slots } from '../gate/slots.js';
import { Journal } from '../journal.js';
import { Keys } from '../keys.js';
import { factsOf, openEnvelope } from '../kinds/envelope.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import { EndedError, WHILE_IT_RAN } from '../kinds/outcome.js';
import { FIRST } from '../kinds/priority.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { JobLog } from '../read/job.log.js';
import { Settler } from '../settle/settler.js';
import { meansUnavailable } from '../store.js';
import { ForeignPickup } from './foreign.pickup.js';
import { HandlerRegistry } from './handler.registry.js';
import { NotNow } from './not-now.js';
import { Run } from './run.js';
import { RunningJobs } from './running-jobs.js';
import { Sandbox } from './sandbox.js';
import { OwnerCancelled, RunLost, RunTimedOut, ShuttingDown, StopReason } from './stop-reasons.js';
import { untilAbandoned } from './until-abandoned.js';
import { Waker } from './waker.js';

/** When a job of a kind that this worker does not know is looked at again. */
const NOBODY_HERE_MS = 30_000;

/** When a job is looked at again for which the store could not answer. */
const STORE_AGAIN_MS = 1_000;

/** The plot of one run: gate, perform, settle. */
@Injectable()
export class JobRunner {
  /** Tokens are never used twice: a name for this process, and a number. */
  private readonly process = randomBytes(5).toString('base64url');
  private runs = 0;
  private readonly keys: Keys;
  /** Which run of ours BullMQ's events are about. */
  private readonly runOf = new WeakMap<Job, Run>();

  constructor(
    private readonly options: LifecycleOptions,
    private readonly kinds: KindRegistry,
    private readonly handlers: HandlerRegistry,
    private readonly foreign: ForeignPickup,
    private readonly gate: Gate,
    private readonly slots: Slots,
    private readonly admission: Admission,
    private readonly settler: Settler,
    private readonly running: RunningJobs,
    private readonly waker: Waker,
    private readonly log: JobLog,
    private readonly journal: Journal,
  ) {
    this.keys = new Keys(options.prefix ?? LIFECYCLE_DEFAULTS.prefix);
  }

  async run(job: Job, lock: string): Promise<unknown> {
    this.running.noteTaken(job.queueName);
    if (this.foreign.isForeign(job)) {
      const adopted = await this.foreign.adopt(job, lock);
      if (adopted) return adopted;
    }
    const envelope = openEnvelope(job);
    if (!this.handlers.get(job.name)) return this.leaveToOthers(job, lock);
    const token = `${this.process}${(this.runs += 1).toString(36)}`;
    const run = new Run(
      job,
      this.kinds.get(job.name),
      envelope,
      this.keys.records(envelope.o),
      token,
      this.failed,
      this.options.artifacts,
    );
    if (this.running.isDraining) return this.handBack(job, lock, run);

    this.runOf.set(job, run);
    const verdict = await this.gate.check(run).catch((error: unknown) => this.notAnswered(job, error));
    switch (verdict.kind) {
      case 'run':
        run.begin(verdict.fence);
        this.admission.leave(job.queueName);
        this.endTurn(job);
        return this.performWhole(job, lock, run, verdict.latePayload);
      case 'done':
        // A run before this one got as far as its result; only BullMQ had not heard, or its children had not ended.
        if (run.kind.artifacts) await this.commitArtifacts(job, lock, run, verdict.fence);
        return this.finish(job, lock, run, verdict.result);
      case 'skip':
        this.journal.jobSkipped(run.facts, verdict.endedAs, verdict.why);
        throw new EndedError(verdict.endedAs, verdict.why);
      case 'wait':
        return this.putOff(job, lock, run, verdict.why, verdict.retryInMs);
    }
  }

  /** A store that cannot say whether a job may run has not said that its attempt failed. */
  private notAnswered(job: Job, error: unknown): Verdict {
    this.failed(job.queueName, error);
    return { kind: 'wait', why: 'the store', retryInMs: STORE_AGAIN_MS };
  }

  private readonly failed = (queue: string, error: unknown): void => this.journal.queueError(queue, error);

  /** BullMQ has recorded the end of a run: the job leaves its owners' indexes, or waits for its next attempt. */
  ended(job: Job, isFinal: boolean): void {
    const run = this.runOf.get(job);
    if (run && isFinal) this.settler.leave(run);
    else if (run) {
      this.logRun(job, run, 'retrying', job.failedReason);
      this.settler.comeBack(run);
    }
    // BullMQ ended it by itself, for having lost too many workers.
    else if (isFinal) this.settler.forget(job);
  }

  private async performWhole(
    job: Job,
    lock: string,
    run: Run,
    latePayload: string | undefined,
  ): Promise<unknown> {
    const result = await this.perform(job, lock, run, latePayload);
    if (run.hasArtifacts) await this.commitArtifacts(job, lock, run, run.fence);
    return run.envelope.c ? this.finish(job, lock, run, result) : result;
  }

  private async perform(job: Job, lock: string, run: Run, latePayload: string | undefined): Promise<unknown> {
    const around = this.options.worker?.around;
    this.running.add(run);
    const timer = setTimeout(() => {
      run.stop(new RunTimedOut(run.kind.timeoutMs, run.kind.graceMs));
    }, run.kind.timeoutMs);
    try {
      const handle = (): Promise<unknown> => this.handle(job, run, latePayload);
      return await (around ? around(run.facts, handle) : handle());
    } catch (error) {
      return await this.explain(job, lock, run, error);
    } finally {
      clearTimeout(timer);
      run.end();
      this.running.remove(run);
    }
  }

  private async handle(job: Job, run: Run, latePayload: string | undefined): Promise<unknown> {
    const handler = this.handlers.get(run.kind.name)!;
    const payload = readPayload(run, latePayload);
    if (run.envelope.c) await orNoAnswer(checkChildren(job));
    this.journal.jobBegan(run.facts, waitedMs(job, run.envelope.c !== undefined));

    const work = handler.handle(payload, run);
    // A sandbox loses patience by itself, and ends only when its process has: nothing of it goes on behind its run's end.
    const result = await (handler instanceof Sandbox ? work : untilAbandoned(work, run));
    // A result that JSON has no words for is its handler's failure.
    const text = JSON.stringify(result) ?? 'null';
    const word = await this.settler.commit(run, text).catch(mayCount);
    if (word === 'cancelled') throw new OwnerCancelled(0);
    if (word === 'stale') throw new RunLost('another run has its job');
    return result;
  }

  /**
   * After the result, before BullMQ hears of it: who dies in between, or cannot reach the store, is followed by one who is
   * told that the job is done, and by which run.
   */
  private async commitArtifacts(job: Job, lock: string, run: Run, fence: string): Promise<void> {
    try {
      await this.options.artifacts?.commit(run.jobId, fence);
    } catch (error) {
      await this.comeLater(job, lock, run, error);
    }
  }

  /**
   * BullMQ completes no parent before its children have ended. One that went on when a child failed may be done earlier:
   * its result counts already, and it comes here once more when they have.
   */
  private async finish(job: Job, lock: string, run: Run, result: unknown): Promise<unknown> {
    if (!run.envelope.c) return result;
    await this.settler.release(run);
    try {
      if (!(await orNoAnswer(job.moveToWaitingChildren(lock)))) return result;
    } catch (error) {
      if (error instanceof NoAnswer) return this.comeLater(job, lock, run, error.cause);
      throw error;
    }
    this.settler.comeBack(run);
    if (run.hasBegun) this.logRun(job, run, 'waiting-for-children', 'some have not ended');
    throw new WaitingChildrenError();
  }

  /** What a failure of the handler means, given why it was told to stop, if it was. */
  private async explain(job: Job, lock: string, run: Run, error: unknown): Promise<never> {
    const reason = run.stopReason instanceof StopReason ? run.stopReason : error;
    if (reason instanceof ShuttingDown) return this.handBack(job, lock, run);
    if (reason instanceof RunLost) return this.lose(job, lock, run, reason);
    if (reason instanceof NotNow) return this.wait(job, lock, run, reason);
    if (reason instanceof NoAnswer) return this.comeLater(job, lock, run, reason.cause);
    if (reason instanceof OwnerCancelled) await this.settler.answer(run);
    await this.settler.release(run);
    if (reason instanceof OwnerCancelled) {
      if (run.hasArtifacts) await this.removeArtifacts(run);
      const ended = new EndedError('cancelled', WHILE_IT_RAN);
      this.logRun(job, run, 'aborted', reason.message);
      this.journal.jobSkipped(run.facts, ended.endedAs, ended.why);
      throw ended;
    }
    throw reason;
  }

  /** Nobody will ask for them; the job's id may be a new job's by now. Should it fail, they go with the job. */
  private async removeArtifacts({ jobId, fence, facts }: Run): Promise<void> {
    await this.options.artifacts
      ?.removeRun(jobId, fence)
      .catch((error: unknown) => this.journal.queueError(facts.queue, error));
  }

  /** It had begun, and the store could not answer: that is no failure of its attempt, and no text for its error. */
  private async comeLater(job: Job, lock: string, run: Run, error: unknown): Promise<never> {
    this.journal.queueError(run.facts.queue, error);
    await this.settler.release(run);
    this.settler.comeBack(run);
    if (run.hasBegun) this.logRun(job, run, 'put-off', 'the store could not answer');
    return this.putOff(job, lock, run, 'the store', STORE_AGAIN_MS);
  }

  /** The job waits for a slot, or for what is not known yet. It occupies no worker meanwhile and uses up no attempt. */
  private async putOff(job: Job, lock: string, run: Run, why: string, forMs: number): Promise<never> {
    // Once an attempt: who waits for long looks often.
    if (why === 'slot' && job.attemptsStarted === job.attemptsMade + 1)
      this.log.write(job, { event: 'waiting-for-slot' });
    await this.delay(job, lock, forMs, ownPriority(job));
    this.journal.jobPutOff(run.facts, why, forMs);
    if (why === 'slot') await this.slots.wakeIfGranted(run).catch(this.queueErrorOf(job));
    throw new DelayedError();
  }

  /** Its handler found it too early. It is first in the queue when it is woken, as who was waited for has come. */
  private async wait(job: Job, lock: string, run: Run, { why, forMs, isOver }: NotNow): Promise<never> {
    await this.settler.release(run);
    await this.delay(job, lock, forMs, FIRST);
    this.settler.comeBack(run);
    this.journal.jobPutOff(run.facts, why, forMs);
    this.log.write(job, { event: 'put-off', why });
    try {
      if (await isOver()) await this.waker.wake(run.id);
    } catch (error) {
      // It waits, and looks again by itself.
      this.journal.queueError(run.facts.queue, error);
    }
    throw new DelayedError();
  }

  /**
   * It went before others to the slot that was granted to it. However it comes to wait again, as a retry, handed back or
   * of a dead worker, it waits as it was accepted.
   */
  private endTurn(job: Job): void {
    setPriority(job, ownPriority(job)).catch(this.queueErrorOf(job));
  }

  /** Gives the job to another worker at no cost. */
  private async handBack(job: Job, lock: string, run: Run): Promise<never> {
    // First out of our own books: the next run must find its slot and its lease free.
    await this.settler.release(run);
    await this.delay(job, lock, 0);
    await this.endDelay(job);
    this.settler.comeBack(run);
    this.journal.jobHandedBack(run.facts, 'shutdown');
    if (run.hasBegun) this.logRun(job, run, 'handed-back', 'its worker ended');
    throw new DelayedError();
  }

  /** Another program, or a newer worker of ours, may know what to do with it; to fail it would be to lose it. */
  private async leaveToOthers(job: Job, lock: string): Promise<never> {
    await this.delay(job, lock, NOBODY_HERE_MS);
    this.journal.jobPutOff(factsOf(job), 'no handler here', NOBODY_HERE_MS);
    throw new DelayedError();
  }

  /**
   * Should the store not take it, the job stays as it is until its lock has ended. BullMQ lets it wait again then, at no
   * attempt either.
   */
  private async delay(job: Job, lock: string, forMs: number, priority = job.priority): Promise<void> {
    try {
      await setPriority(job, priority);
      await job.moveToDelayed(Date.now() + forMs, lock);
    } catch (error) {
      this.journal.queueError(job.queueName, error);
      throw new DelayedError();
    }
  }

  /**
   * A delay of nothing ends by this worker's clock, which may be ahead of the others'. Unlike a move to the waiting jobs this
   * also wakes a worker that sits waiting.
   */
  private async endDelay(job: Job): Promise<void> {
    await this.waker.wake(job.id!).catch(this.queueErrorOf(job));
  }

  private queueErrorOf({ queueName }: Job): (error: unknown) => void {
    return (error) => this.journal.queueError(queueName, error);
  }

  /** A run that was not the last one: BullMQ will forget when it was, so the job's log keeps it. */
  private logRun(job: Job, { attempt }: Run, event: string, why: string): void {
    this.log.write(job, { event: 'began', attempt, ...(job.processedOn && { at: job.processedOn }) });
    this.log.write(job, { event, attempt, why });
  }

  /** Nothing of a lost run counts. What it gives back is its own: lease and slot are a run's, not its job's. */
  private async lose(job: Job, lock: string, run: Run, reason: RunLost): Promise<never> {
    this.journal.jobLost(run.facts, reason.message);
    await this.settler.release(run);
    // Should the lock be ours still, the job need not wait for its end.
    try {
      await job.moveToDelayed(Date.now(), lock);
      await this.endDelay(job);
      this.settler.comeBack(run);
    } catch (error) {
      if (!isLockGone(error)) this.journal.queueError(run.facts.queue, error);
    }
    throw new DelayedError();
  }
}

/** The store could not answer in the middle of a run; `cause` says how. */
class NoAnswer extends Error {
  constructor(cause: unknown) {
    super('The store could not answer.', { cause });
    this.name = 'NoAnswer';
  }
}

/** What was made may count already, for all that a store says which cannot answer: then the next run is told. */
function mayCount(error: unknown): never {
  throw new NoAnswer(error);
}

async function orNoAnswer<T>(asked: Promise<T>): Promise<T> {
  try {
    return await asked;
  } catch (error) {
    throw meansUnavailable(error) ? new NoAnswer(error) : error;
  }
}

/** The payload was right when the job was accepted; its schema is another now, or it is corrupt. No retry mends that. */
function readPayload({ envelope, kind }: Run, latePayload: string | undefined): unknown {
  try {
    return kind.payload.parse(latePayload === undefined ? envelope.b : JSON.parse(latePayload));
  } catch (error) {
    throw new UnreadablePayloadError(kind.name, error);
  }
}

/**
 * Since it was due. When a job that was tried before became due again BullMQ forgets as it is picked up; when the children
 * of a parent had ended it does not say.
 */
function waitedMs(
  { attemptsMade, stalledCounter, timestamp, opts }: Job,
  isParent: boolean,
): number | undefined {
  if (attemptsMade > 0 || stalledCounter > 0 || isParent) return undefined;
  return Math.max(0, Date.now() - timestamp - (opts.delay ?? 0));
}

/** BullMQ changes the job's priority, and leaves the one in its options as it was added with. */
function ownPriority(job: Job): number {
  return job.opts.priority ?? FIRST;
}

async function setPriority(job: Job, priority: number): Promise<void> {
  if (job.priority !== priority) await job.changePriority({ priority });
}

function isLockGone(error: unknown): boolean {
  return /lock|Missing|not in the active/i.test((error as Error).message);
}
