import { parseOwner, type Owner } from '#core';
import { Injectable, SetMetadata, type CustomDecorator, type OnModuleInit, type Type } from '@nestjs/common';
import { DiscoveryService, Reflector } from '@nestjs/core';
import type { Job } from 'bullmq';
import { Journal } from '../../journal/journal.js';
import { KindRegistry } from '../../kinds/kind-registry.js';
import type { Kind } from '../../kinds/kind.js';
import { MooringSetupError } from '../../setup-error.js';

const KEEPS = Symbol('mooring:keeps');

export interface FinishedJob {
  readonly id: string;
  readonly owners: readonly Owner[];
}

/** Says which completed jobs of a kind are still wanted, whatever their age and number. */
export abstract class JobKeeper {
  /** The ids that are wanted, of at most 100 jobs. If it rejects, all of them are kept. */
  abstract wanted(jobs: readonly FinishedJob[]): Promise<ReadonlySet<string>>;
}

/** Says which kind a keeper is for. The kind has `keepWanted: true`. */
export function Keeps(kind: Kind): CustomDecorator<symbol> & ClassDecorator {
  return SetMetadata(KEEPS, kind) as CustomDecorator<symbol> & ClassDecorator;
}

/** The keepers of this process, by kind. */
@Injectable()
export class JobKeepers implements OnModuleInit {
  private readonly keepers = new Map<string, JobKeeper>();

  constructor(
    private readonly discovery: DiscoveryService,
    private readonly reflector: Reflector,
    private readonly kinds: KindRegistry,
    private readonly journal: Journal,
  ) {}

  onModuleInit(): void {
    for (const { metatype, instance } of this.discovery.getProviders()) {
      const kind = metatype && this.reflector.get<Kind | undefined>(KEEPS, metatype as Type);
      if (!kind) continue;
      const isRight = instance instanceof JobKeeper && kind.keepWanted && !this.keepers.has(kind.name);
      if (!isRight)
        throw new MooringSetupError(
          `${(metatype as Type).name} has @Keeps for "${kind.name}": it must extend JobKeeper, be the only keeper of its kind, ` +
            'and the kind must have keepWanted: true.',
        );
      this.keepers.set(kind.name, instance);
    }
  }

  /** The ids of the completed jobs that stay. A job of a kind with `keepWanted` stays if its keeper is missing or fails. */
  async wanted(jobs: readonly Job[]): Promise<ReadonlySet<string>> {
    const names = new Set(jobs.map(({ name }) => name).filter((name) => this.kinds.find(name)?.keepWanted));
    const wanted = [...names].map(async (name) => {
      const ofKind = jobs.filter((job) => job.name === name);
      try {
        return await this.ask(name, ofKind);
      } catch (error) {
        this.journal.trouble(`The keeper of ${name}, whose jobs are all kept`, error);
        return ofKind.map(({ id }) => id!);
      }
    });
    return new Set((await Promise.all(wanted)).flatMap((ids) => [...ids]));
  }

  private async ask(kind: string, jobs: readonly Job[]): Promise<Iterable<string>> {
    const keeper = this.keepers.get(kind);
    if (!keeper) throw new Error('no provider has @Keeps for it.');
    return keeper.wanted(
      jobs.map(({ id, opts }) => ({ id: id!, owners: (opts.owners ?? []).map(parseOwner) })),
    );
  }
}
