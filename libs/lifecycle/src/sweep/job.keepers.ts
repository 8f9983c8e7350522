import { Injectable, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import type { Job } from 'bullmq';
import { Journal } from '../journal.js';
import { openEnvelope } from '../kinds/envelope.js';
import { KindRegistry } from '../kinds/kind.registry.js';
import type { Kind } from '../kinds/kind.js';
import { parseOwner } from '../kinds/owner.js';
import { JobKeeper, KEEPS } from './job.keeper.js';

/** Who knows which completed jobs are still wanted. */
@Injectable()
export class JobKeepers implements OnModuleInit {
  private found: ReadonlyMap<string, JobKeeper> | undefined;

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly kinds: KindRegistry,
    private readonly journal: Journal,
  ) {}

  /** Refuses the start, naming everything that is wrong. */
  onModuleInit(): void {
    this.all();
  }

  /**
   * Of completed jobs the ids of those that stay. A job that BullMQ was told never to remove is one to ask about; where nobody can be asked, or no
   * answer comes, it stays.
   */
  async wanted(jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    const asked = jobs.filter((job) => this.isAskedAbout(job));
    const names = new Set(asked.map(({ name }) => name));
    const wanted = await Promise.all(
      [...names].map((name) =>
        this.ask(
          name,
          asked.filter((job) => job.name === name),
        ),
      ),
    );
    return new Set(wanted.flat());
  }

  /** It shares its queue with others, perhaps, which are not; of a kind that is not known here nobody can say. */
  private isAskedAbout({ opts, name }: Job): boolean {
    return opts.removeOnComplete === false && (!this.kinds.has(name) || this.kinds.get(name).keepWanted);
  }

  private async ask(kind: string, jobs: readonly Job[]): Promise<string[]> {
    const ids = jobs.map(({ id }) => id!);
    const keeper = this.all().get(kind);
    if (!keeper) {
      this.journal.sweepTrouble('retention', kind, new Error(nobodyKeeps(kind)));
      return ids;
    }
    try {
      const wanted = await keeper.wanted(
        jobs.map((job) => ({ id: job.id!, owners: openEnvelope(job).o.map(parseOwner) })),
      );
      return ids.filter((id) => wanted.has(id));
    } catch (error) {
      this.journal.queueError('sweeps', error);
      return ids;
    }
  }

  private all(): ReadonlyMap<string, JobKeeper> {
    this.found ??= this.find();
    return this.found;
  }

  private find(): ReadonlyMap<string, JobKeeper> {
    const found = new Map<string, JobKeeper>();
    const problems: string[] = [];
    for (const { metatype, instance } of this.discovery.getProviders()) {
      const kind = metatype && this.reflector.get<Kind | undefined>(KEEPS, metatype as Type);
      if (!kind) continue;
      const problem = this.problemOf(kind, (metatype as Type).name, instance);
      if (problem !== undefined) problems.push(problem);
      else if (found.has(kind.name)) problems.push(`Kind "${kind.name}" has two keepers. Leave one.`);
      else found.set(kind.name, instance as JobKeeper);
    }
    if (problems.length > 0) throw new Error(`The keepers cannot be used:\n  ${problems.join('\n  ')}`);
    return found;
  }

  /** Why it would never be asked. */
  private problemOf({ name, keepWanted }: Kind, keeper: string, instance: unknown): string | undefined {
    if (!(instance instanceof JobKeeper)) return `${keeper} has @Keeps but does not extend JobKeeper.`;
    if (!this.kinds.has(name))
      return `${keeper} keeps "${name}", a kind that is not known here: import LifecycleModule.forKinds([…]) with it beside the keeper.`;
    if (!keepWanted)
      return `${keeper} keeps "${name}", whose kind does not say so: add keepWanted: true to it.`;
    return undefined;
  }
}

function nobodyKeeps(kind: string): string {
  return `Kind "${kind}" says keepWanted, and nobody here says what is wanted, so all of it is kept: provide a class with @Keeps(…).`;
}
