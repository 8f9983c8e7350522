import { Injectable } from '@nestjs/common';
import { parseOwner } from '../kinds/owner.js';
import { LIFECYCLE_DEFAULTS, LifecycleOptions } from '../options.js';
import { OwnerLives, type Lives } from '../resolvers/owner.lives.js';
import { Store } from '../store.js';
import { Doomed, type Doom } from './doomed.js';
import type { Position, Tallies, Tally } from './orphan.position.js';
import { OwnerDirectory } from './owner.directory.js';
import { isIdle, OwnerLooks, type OwnerLook } from './owner.looks.js';
import { Sightings, type Sighting } from './sightings.js';
import type { Page, Round } from './sweep.js';

/** A resolver is asked for so many at once. */
const QUESTION = 500;

const NONE: Tally = { asked: 0, gone: 0, doomed: 0 };

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
    const { owners, next } = await this.directory.page(from, QUESTION);
    const looks = await this.looks.lookAll(owners, atOnce);
    if (!round.dryRun) await this.strikeIdle(looks, nowMs);

    const owning = looks.filter(({ jobs }) => jobs > 0);
    const types = new Set(this.lives.types());
    const old = owning.filter(
      ({ owner, lastMs }) => nowMs - lastMs >= this.graceMs && types.has(parseOwner(owner).type),
    );
    const findings = await this.ask(old, nowMs);
    if (!round.dryRun) await this.write(findings, round);
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

  private async write({ dooms, seen, wiped }: Findings, { sweepId }: Round): Promise<void> {
    await this.doomed.add(sweepId, dooms);
    await this.sightings.note(seen);
    await this.sightings.wipe(wiped);
  }
}

/** What the answers of a page mean. */
class Findings {
  kept = 0;
  unknown = 0;
  trouble: string | undefined;
  readonly tallies: Record<string, { -readonly [K in keyof Tally]: Tally[K] }> = {};
  readonly dooms: Doom[] = [];
  readonly seen = new Map<string, Sighting>();
  readonly wiped: string[] = [];

  constructor(
    private readonly nowMs: number,
    private readonly graceMs: number,
  ) {}

  add(type: string, { owner, epoch, counter }: OwnerLook, life: string, before: Sighting | undefined): void {
    const tally = (this.tallies[type] ??= { ...NONE });
    tally.asked += 1;
    if (life !== 'gone') {
      if (life === 'alive') this.kept += 1;
      else this.unknown += 1;
      if (before) this.wiped.push(owner);
      return;
    }
    tally.gone += 1;
    const isSame = before?.epoch === epoch && before.counter === counter;
    if (isSame && this.nowMs - before.since >= this.graceMs) {
      tally.doomed += 1;
      this.dooms.push({ owner, epoch, counter, goneSince: before.since });
      return;
    }
    this.kept += 1;
    if (!isSame) this.seen.set(owner, { epoch, counter, since: this.nowMs });
  }
}

/** A dry run says what the rest of it would do, and whom one more sighting would end. */
function pageOf({ unknown, trouble, dooms, seen }: Findings, { dryRun }: Round): Omit<Page, 'position'> {
  const why = trouble !== undefined && { why: trouble };
  if (!dryRun) return { unknown, ...why };
  const lines = [
    ...dooms.map(({ owner, goneSince }) => ({ what: owner, why: goneSinceWords(goneSince) })),
    ...[...seen.keys()].map((owner) => ({ what: owner, why: 'gone, seen once; the next sweep may end it' })),
  ];
  return { unknown, removed: dooms.length, lines, ...why };
}

export function goneSinceWords(goneSince: number): string {
  return `gone since ${new Date(goneSince).toISOString()}`;
}

function add(tallies: Tallies, more: Tallies): Tallies {
  const sums: Record<string, Tally> = { ...tallies };
  for (const [type, { asked, gone, doomed }] of Object.entries(more)) {
    const before = sums[type] ?? NONE;
    sums[type] = {
      asked: before.asked + asked,
      gone: before.gone + gone,
      doomed: before.doomed + doomed,
    };
  }
  return sums;
}
