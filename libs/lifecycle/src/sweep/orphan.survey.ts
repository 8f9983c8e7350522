import { Injectable } from '@nestjs/common';
import { Journal } from '../journal.js';
import { parseOwner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { MOST_OWNERS_AT_ONCE, OwnerLives, type Lives } from '../resolvers/owner.lives.js';
import type { OwnerLife } from '../resolvers/owner.resolver.js';
import { Store } from '../store.js';
import { Doomed } from './doomed.js';
import { Findings } from './orphan.findings.js';
import { add, type Position, type Tallies } from './orphan.position.js';
import { OwnerDirectory } from './owner.directory.js';
import { isIdle, OwnerLooks, type OwnerLook } from './owner.looks.js';
import { Sightings } from './sightings.js';
import type { Page, Round } from './sweep.js';

type Asking = Extract<Position, { phase: 'ask' }>;

/** What a page of owners came to. */
interface Survey {
  readonly page: Omit<Page, 'position'>;
  /** Where the next one begins; absent when all were looked at. */
  readonly next?: Asking;
  readonly tallies: Tallies;
}

/** Asks about a page of the owners that have jobs, and writes down which of them are to go. */
@Injectable()
export class OrphanSurvey {
  private readonly graceMs: number;

  constructor(
    options: LifecycleOptions,
    private readonly store: Store,
    private readonly directory: OwnerDirectory,
    private readonly looks: OwnerLooks,
    private readonly lives: OwnerLives,
    private readonly sightings: Sightings,
    private readonly doomed: Doomed,
    private readonly journal: Journal,
  ) {
    this.graceMs = options.sweeps?.ownerGraceMs ?? LIFECYCLE_DEFAULTS.ownerGraceMs;
  }

  /** The page is as long as a question may be; `atOnce` records are read at a time. */
  async look({ from, tallies }: Asking, atOnce: number, round: Round): Promise<Survey> {
    const nowMs = await this.store.now();
    const { owners, next } = await this.directory.page(from, MOST_OWNERS_AT_ONCE);
    const looks = await this.looks.lookAll(owners, atOnce);
    if (!round.dryRun) await this.strikeIdle(looks, nowMs);

    const owning = looks.filter(({ jobs }) => jobs > 0);
    const resolved = this.resolvedOf(owning);
    const old = resolved.filter(({ lastMs }) => nowMs - lastMs >= this.graceMs);
    const findings = await this.ask(old, nowMs);
    if (!round.dryRun) await this.write(owners, old, findings, round);
    const listed = from ? undefined : await this.directory.size();
    const asked = add(tallies, findings.tallies);
    return {
      page: {
        ...pageOf(findings, round),
        seen: owning.length,
        kept: findings.kept + owning.length - old.length,
        ...(listed !== undefined && { of: listed }),
      },
      ...(next && { next: { phase: 'ask', from: next, tallies: asked } }),
      tallies: asked,
    };
  }

  /** Of owners of whom it was known long ago: who is gone still. */
  async stillGone(owners: readonly string[]): Promise<{ gone: Set<string>; unknown: Set<string> }> {
    const found = { gone: new Set<string>(), unknown: new Set<string>() };
    for (let at = 0; at < owners.length; at += MOST_OWNERS_AT_ONCE) {
      const asked = owners.slice(at, at + MOST_OWNERS_AT_ONCE);
      const answers = await this.answersAbout(asked);
      for (const owner of asked) {
        const life = lifeIn(answers, owner);
        if (life !== 'alive') found[life].add(owner);
      }
    }
    return found;
  }

  private async strikeIdle(looks: readonly OwnerLook[], nowMs: number): Promise<void> {
    const idle = looks.filter((look) => isIdle(look, nowMs)).map(({ owner }) => owner);
    await this.directory.strike(idle, async (owner) => isIdle(await this.looks.look(owner), nowMs));
  }

  private resolvedOf(looks: readonly OwnerLook[]): OwnerLook[] {
    const types = new Set(this.lives.types());
    return looks.filter(({ owner }) => {
      const { type } = parseOwner(owner);
      if (types.has(type)) return true;
      this.journal.resolverMissing(type);
      return false;
    });
  }

  private async ask(looks: readonly OwnerLook[], nowMs: number): Promise<Findings> {
    const owners = looks.map(({ owner }) => owner);
    const answers = await this.answersAbout(owners);
    const before = await this.sightings.read(owners);
    const findings = new Findings(nowMs, this.graceMs);
    for (const look of looks)
      findings.add(parseOwner(look.owner).type, look, lifeIn(answers, look.owner), before.get(look.owner));
    findings.trouble = [...answers.values()].find(({ failed }) => failed !== undefined)?.failed;
    return findings;
  }

  private async answersAbout(owners: readonly string[]): Promise<Map<string, Lives>> {
    const ids = new Map<string, string[]>();
    for (const owner of owners) {
      const { type, id } = parseOwner(owner);
      ids.set(type, [...(ids.get(type) ?? []), id]);
    }
    const answers = new Map<string, Lives>();
    for (const [type, asked] of ids) answers.set(type, await this.lives.ask(type, asked));
    return answers;
  }

  /** First the dooms, which are void when another took over: what was seen stays as that one sees it. */
  private async write(
    owners: readonly string[],
    looks: readonly OwnerLook[],
    { dooms, seen }: Findings,
    round: Round,
  ): Promise<void> {
    await this.doomed.write(round, owners, dooms);
    await this.sightings.write(
      looks.map(({ owner }) => owner),
      seen,
      round.fence,
    );
  }
}

function lifeIn(answers: ReadonlyMap<string, Lives>, owner: string): OwnerLife {
  const { type, id } = parseOwner(owner);
  return answers.get(type)?.lives.get(id) ?? 'unknown';
}

/** A dry run says what the rest of it would do, and whom one more sighting would end. */
function pageOf({ unknown, trouble, dooms, firsts }: Findings, { dryRun }: Round): Omit<Page, 'position'> {
  const why = trouble !== undefined && { why: trouble };
  if (!dryRun) return { unknown, ...why };
  const lines = [
    ...dooms.map(({ owner, goneSince }) => ({ what: owner, why: goneSinceWords(goneSince) })),
    ...firsts.map((owner) => ({ what: owner, why: 'gone, seen once; the next sweep may end it' })),
  ];
  return { unknown, removed: dooms.length, lines, ...why };
}

export function goneSinceWords(goneSince: number): string {
  return `gone since ${new Date(goneSince).toISOString()}`;
}
