import { isWithin, typeOfOwner, type AccessLimits, type LimitedJob } from '#nestjs';
import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import { ApiProblem } from '../problem.js';
import type { CalledRequest } from '../scopes.js';

/** The limits as an answer names them: `limitedTo`, only for a caller that has some. */
export interface LimitedAnswer {
  readonly limitedTo?: AccessLimits;
}

type Side = 'owner types' | 'kinds' | 'queues';

/** What a caller is limited to. A refusal names the limit; it follows from the call alone, and never from what is stored. */
export class CallerLimits {
  constructor(
    private readonly caller: string,
    /** Undefined if the caller may touch everything. */
    readonly within: AccessLimits | undefined,
  ) {}

  static of({ caller = '', limits }: CalledRequest): CallerLimits {
    return new CallerLimits(caller, limits);
  }

  /** Goes into the answer of a list, which shows less to a caller with limits. */
  get inAnswer(): LimitedAnswer {
    return this.within ? { limitedTo: this.within } : {};
  }

  admits(job: LimitedJob): boolean {
    return this.within === undefined || isWithin(this.within, job);
  }

  /** @param owner as in `trip:42` */
  admitsOwner(owner: string): boolean {
    return this.within?.ownerTypes?.includes(typeOfOwner(owner)) ?? true;
  }

  admitsQueue(queue: string): boolean {
    return this.within?.queues?.includes(queue) ?? true;
  }

  admitsKind(kind: string, queue: string | undefined): boolean {
    const { kinds, queues } = this.within ?? {};
    return (kinds?.includes(kind) ?? true) && (!queues || (queue !== undefined && queues.includes(queue)));
  }

  /** @param queue undefined for a kind that is not known */
  checkJob(job: {
    readonly kind: string;
    readonly queue: string | undefined;
    readonly owners: readonly string[];
  }): void {
    this.checkKind(job.kind);
    const { queues } = this.within ?? {};
    if (queues && (job.queue === undefined || !queues.includes(job.queue)))
      throw this.refusal('queues', `the queue of the kind ${quote(job.kind)}`);
    this.checkOwners(job.owners);
  }

  checkKind(kind: string): void {
    if (this.within?.kinds?.includes(kind) === false) throw this.refusal('kinds', quote(kind));
  }

  checkQueue(queue: string): void {
    if (this.within?.queues?.includes(queue) === false) throw this.refusal('queues', quote(queue));
  }

  /** What is not written `type:id` is refused by who reads it. */
  checkOwners(owners: readonly string[]): void {
    const types = owners.map(typeOfOwner).filter((type) => type !== '');
    const other = types.find((type) => this.within?.ownerTypes?.includes(type) === false);
    if (other !== undefined) throw this.refusal('owner types', quote(other));
  }

  /** What a list or an operation names. What it leaves open is cut to the limits. */
  checkFilter(filter: {
    readonly kind?: string | undefined;
    readonly queue?: string | undefined;
    readonly owner?: string | undefined;
  }): void {
    if (filter.kind !== undefined) this.checkKind(filter.kind);
    if (filter.queue !== undefined) this.checkQueue(filter.queue);
    if (filter.owner !== undefined) this.checkOwners([filter.owner]);
  }

  /** For what is about all jobs of owners: it has jobs of any kind and queue. */
  checkWholeOwners(types: readonly string[] = []): void {
    this.checkOwners(types.map((type) => `${type}:`));
    if (this.within?.kinds) throw this.refusal('kinds', 'all jobs of an owner');
    if (this.within?.queues) throw this.refusal('queues', 'all jobs of an owner');
  }

  /** For what is about all jobs of queues: it has jobs of any kind and owner. */
  checkWholeQueues(queue?: string): void {
    if (queue !== undefined) this.checkQueue(queue);
    if (this.within?.kinds) throw this.refusal('kinds', 'all jobs of a queue');
    if (this.within?.ownerTypes) throw this.refusal('owner types', 'all jobs of a queue');
  }

  checkFleet(): void {
    if (!this.within) return;
    const sides = [
      this.within.ownerTypes && 'owner types',
      this.within.kinds && 'kinds',
      this.within.queues && 'queues',
    ].filter((side) => side !== undefined);
    throw forbidden(
      `The key "${this.caller}" is limited to some ${sides.join(', ')}, and this call is about the whole fleet.`,
    );
  }

  private refusal(side: Side, named: string): ApiProblem {
    const { ownerTypes, kinds, queues } = this.within!;
    const names = { 'owner types': ownerTypes, kinds, queues }[side]!;
    return forbidden(
      `The key "${this.caller}" is limited to the ${side} ${names.join(', ')}. They do not include ${named}.`,
    );
  }
}

/** What the caller of a route is limited to. */
export const Limits = createParamDecorator(limitsOf);

/** The factory of `Limits`, by which a test finds the routes that take it. */
export function limitsOf(_data: unknown, context: ExecutionContext): CallerLimits {
  return CallerLimits.of(context.switchToHttp().getRequest<CalledRequest>());
}

function forbidden(detail: string): ApiProblem {
  return new ApiProblem(403, 'FORBIDDEN', detail);
}

function quote(name: string): string {
  return JSON.stringify(name.slice(0, 80));
}
