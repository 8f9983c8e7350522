import type { OnApplicationBootstrap, OnApplicationShutdown } from '@nestjs/common';
import { HttpResolver } from './http/http-resolver.js';
import type { OwnerResolverSettings, ResolverSettings } from './settings.js';
import { SqlResolver } from './sql/sql-resolver.js';

/** A type whose resolver has no canaries, so a misconfiguration would go unnoticed. */
export interface UnprovenFact {
  readonly event: 'resolver.unproven';
  readonly type: string;
  readonly why: string;
}

/** The resolvers of a settings file. They are closed at shutdown, after the last run. */
export class ConfiguredResolvers implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly byType: ReadonlyMap<string, HttpResolver | SqlResolver>;

  constructor(
    settings: OwnerResolverSettings = new Map(),
    private readonly listener: (fact: UnprovenFact) => void,
  ) {
    this.byType = new Map([...settings].map(([type, how]) => [type, open(how)]));
  }

  onApplicationBootstrap(): void {
    const why =
      'It has no canaries: if it is misconfigured and reports every owner as gone, only the sweep ratio limit stops the removal.';
    for (const [type, { canaries }] of this.byType)
      if (!canaries) this.listener({ event: 'resolver.unproven', type, why });
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([...this.byType.values()].map(async (resolver) => resolver.close()));
  }
}

function open(settings: ResolverSettings): HttpResolver | SqlResolver {
  return settings.via === 'http' ? new HttpResolver(settings) : new SqlResolver(settings);
}
