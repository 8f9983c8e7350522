import { Sandbox, type SandboxEnd, type SandboxTools } from '#sandbox';
import { UnrecoverableError } from 'bullmq';
import { RunOverError, SandboxEndedError } from '../errors.js';
import type { Kind, Payload } from '../kinds/kind.js';
import { Handler } from './handler.js';
import type { Run } from './run.js';

/** What the file of a sandboxed kind exports, as its default or as `handle`. */
export type SandboxHandler<K extends Kind = Kind> = (
  payload: Payload<K>,
  run: SandboxRun,
) => Promise<unknown>;

/** What a handler in a sandbox is given beside its payload. */
export interface SandboxRun extends SandboxTools, Pick<Run, 'id' | 'attempt' | 'owners' | 'fence'> {
  readonly kind: string;
}

/** The handler of a kind whose file runs in a process of its own. */
export class SandboxedKind extends Handler {
  private readonly sandbox: Sandbox;

  constructor(private readonly kind: Kind) {
    super();
    this.sandbox = new Sandbox(kind.name, kind.sandbox!, kind.graceMs);
  }

  async handle(payload: unknown, run: Run): Promise<unknown> {
    const { id, attempt, owners, fence, signal } = run;
    const facts = { id, kind: this.kind.name, attempt, owners, fence };
    const end = await this.sandbox.run(payload, facts, run);
    if ('result' in end) return end.result;
    if ('error' in end) throw errorOf(end);
    throw signal.aborted
      ? new RunOverError(String(signal.reason))
      : new SandboxEndedError(this.kind.name, end.ended);
  }
}

function errorOf({
  error: { name, message, stack },
  isFinal,
}: Extract<SandboxEnd, { error: object }>): Error {
  const error = isFinal ? new UnrecoverableError(message) : new Error(message);
  return Object.assign(error, { name, ...(stack && { stack }) });
}
