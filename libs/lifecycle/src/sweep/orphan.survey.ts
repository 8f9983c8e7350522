import { Injectable } from '@nestjs/common';
import { parseOwner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { MOST_OWNERS_AT_ONCE, OwnerLives, type Lives } from '../resolvers/owner.lives.js';
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
    const types = new Set(this.lives.types());
    const old = owning.filter(
      ({ owner, lastMs }) => nowMs - lastMs >= this.graceMs && types.has(parseOwner(owner).type),
    );
    const findings = await this.ask(old, nowMs);
    if (!round.dryRun) await this.write(old, findings, round);
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

  private async strikeIdle(looks: readonly OwnerLook[], nowMs: number): Promise<void> {
    const idle = looks.filter((look) => isIdle(look, nowMs)).map(({ owner }) => owner);
    await this.directory.strike(idle, async (owner) => isIdle(await this.looks.look(owner), nowMs));
  }

  private async ask(looks: readonly OwnerLook[], nowMs: number): Promise<Findings> {
    const answers = await this.answersAbout(looks);
    const before = await this.sightings.read(looks.map(({ owner }) => owner));
    const findings = new Findings(nowMs, this.graceMs);
    for (const look of looks) {
      const { type, id } = parseOwner(look.owner);
      findings.add(type, look, answers.get(type)?.lives.get(id) ?? 'unknown', before.get(look.owner));
    }
    findings.trouble = [...answers.values()].find(({ failed }) => failed !== undefined)?.failed;
    return findings;
  }

  private async answersAbout(looks: readonly OwnerLook[]): Promise<Map<string, Lives>> {
    const ids = new Map<string, string[]>();
    for (const { owner } of looks) {
      const { type, id } = parseOwner(owner);
      ids.set(type, [...(ids.get(type) ?? []), id]);
    }
    const answers = new Map<string, Lives>();
    for (const [type, asked] of ids) answers.set(type, await this.lives.ask(type, asked));
    return answers;
  }

  /** First the dooms, which are void when another took over: what was seen stays as that one sees it. */
  private async write(looks: readonly OwnerLook[], { dooms, seen }: Findings, round: Round): Promise<void> {
    await this.doomed.add(round, dooms);
    await this.sightings.write(
      looks.map(({ owner }) => owner),
      seen,
      round.fence,
    );
  }
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
