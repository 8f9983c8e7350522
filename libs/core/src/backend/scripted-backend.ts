import { RedisQueueBackend, type FinishedStatus } from 'bullmq';
import { DuplicateJobError } from '../model/errors.js';
import { runScript } from '../scripts/composed-scripts.js';
import { extendArguments } from '../scripts/extra-arguments.js';
import type { ComposedName } from '../scripts/recipes.js';
import { ownerNames } from './owned-options.js';
import { RunCancelled } from './run-cancelled.js';
import type { Argument } from './step-arguments.js';
import { refusalOf } from './ticket.js';

/** BullMQ's Redis backend, with the composed scripts in place of BullMQ's own. */
export class ScriptedBackend extends RedisQueueBackend {
  /** Runs whose owner was cancelled, as the renewal of their locks said. */
  onCancelled: (jobIds: readonly string[]) => void = () => undefined;
  /** Jobs that were refused at the gate: `<id> <reason>`. */
  onRefused: (refusals: readonly string[]) => void = () => undefined;
  /** The worker looks for stalled jobs: once in its `stalledInterval`. */
  onStalledCheck: () => void = () => undefined;

  get root(): string {
    return this.redisPrefix;
  }

  protected get place(): { readonly prefix: string; readonly root: string } {
    return { prefix: this.keys['']!, root: this.redisPrefix };
  }

  async run(name: ComposedName, args: readonly Argument[]): Promise<unknown> {
    return runScript(await this.client, name, args);
  }

  override moveStalledJobsToWait(): Promise<string[]> {
    this.onStalledCheck();
    return super.moveStalledJobsToWait();
  }

  override execCommand(client: never, commandName: string, args: Argument[]): unknown {
    const extended = extendArguments(commandName, args, this.place);
    if (!extended && this.root.includes('{')) return runScript(client, commandName as never, args);
    if (!extended) return super.execCommand(client, commandName, args as never);
    const answer = runScript(client, commandName as ComposedName, extended);
    return answer.then((value) => this.readAnswer(commandName, value, extended));
  }

  private readAnswer(commandName: string, answer: unknown, args: readonly Argument[]): unknown {
    if (answer === 'cancelled') throw new RunCancelled(String(args.at(-6)));
    if (commandName === 'extendLocks') {
      const [lost, cancelled] = answer as [string[], string[]];
      if (cancelled.length > 0) this.onCancelled(cancelled);
      return lost;
    }
    this.readRefused(answer);
    return orThrow(answer);
  }

  /** What BullMQ does not read of an answer that may hold the next job. */
  protected readRefused(answer: unknown): void {
    if (!Array.isArray(answer)) return;
    const refused: unknown = answer[4];
    if (Array.isArray(refused)) this.onRefused(refused as string[]);
  }

  /** Gives a job without a mark its owners. If one of them is closed, the job has ended, and that is answered. */
  async adopt(jobId: string, token: string, owners: readonly string[]): Promise<'cancelled' | undefined> {
    const answer = await this.runOnActive('adopt', jobId, token, ownerNames(owners).join('|'));
    return answer === 'adopted' ? undefined : 'cancelled';
  }

  /**
   * Ends a job that is not to be done, such as a turn of a scheduler that came too late. It is not kept, and has not failed. Answers why it
   * ended: an owner may have been cancelled meanwhile.
   */
  async endUnkept(
    jobId: string,
    token: string,
    reason: 'expired' | 'skipped',
    why = '',
  ): Promise<typeof reason | 'cancelled'> {
    return (await this.runOnActive('endUnkept', jobId, token, reason, why)) as typeof reason | 'cancelled';
  }

  private async runOnActive(
    command: 'adopt' | 'endUnkept',
    jobId: string,
    token: string,
    ...more: readonly string[]
  ): Promise<unknown> {
    const { prefix, root } = this.place;
    const answer = await this.run(command, [prefix + jobId, root, prefix, jobId, token, ...more]);
    if (typeof answer === 'number') throw this.errorOf(answer, jobId, command);
    return answer;
  }

  /** BullMQ's error for the code that a script has answered about an active job. */
  protected errorOf(code: number, jobId: string, command: string): Error {
    return this.finishedErrors({ code, jobId, command, state: 'active' });
  }

  override retryFinishedJobs(
    state: FinishedStatus = 'failed',
    count = 1000,
    timestamp = Date.now(),
  ): Promise<number> {
    return this.waitAll(this.moveJobsToWaitArgs(state, count, timestamp));
  }

  override promoteJobs(count = 1000): Promise<number> {
    return this.waitAll(this.moveJobsToWaitArgs('delayed', count, Number.MAX_VALUE));
  }

  /** Jobs that stay as they are would be read again by BullMQ's loop: each page begins behind those of the pages before. */
  private async waitAll(args: readonly Argument[]): Promise<number> {
    let page: [more: number, passedOver: number] = [1, 0];
    while (page[0] === 1) {
      const extended = extendArguments('moveJobsToWait', [...args, page[1]], this.place);
      page = (await this.run('moveJobsToWait', extended!)) as typeof page;
    }
    return 0;
  }

  /**
   * A client of ioredis that is disconnected while it waits to reconnect says neither that it has ended nor that its commands have failed,
   * and the worker that is closed would wait for it. One that has never connected says both.
   */
  override async disconnectBlocking(wait?: boolean): Promise<void> {
    const client = await this.blockingConnection?.client;
    if (client?.status === 'reconnecting') (client as { status: string }).status = 'wait';
    await super.disconnectBlocking(wait);
  }
}

function orThrow(answer: unknown): unknown {
  if (!Array.isArray(answer)) return answer;
  const [word, detail] = answer as [unknown, unknown];
  if (word === 'pending') throw new DuplicateJobError(String(detail));
  if (word === 'closed' || word === 'slot-limit') throw refusalOf(word, String(detail));
  return answer;
}
