import { inGroups } from '#core/parts';
import { Injectable } from '@nestjs/common';
import { MooringStore, type Command } from '../../store/mooring-store.js';
import type { Round } from '../sweep.js';
import type { SeenJobs } from './owner-scan.js';

const KEPT_MS = 7 * 86_400_000;

/** An owner that its resolver calls gone. */
export interface GoneOwner extends SeenJobs {
  /** When it was first seen gone, ms. */
  readonly since: number;
  /** The grace has passed since then: the sweep cancels it. */
  readonly isCandidate: boolean;
}

type Observation = Omit<GoneOwner, 'owner'>;

/**
 * Which owners were gone when a sweep asked: a hash of each sweep, `gone~<id>`, and the id of the sweep that asked last, `gone`. An
 * owner that is not in it was not gone, or was not asked about.
 */
@Injectable()
export class GoneObservations {
  constructor(private readonly store: MooringStore) {}

  /** What the last sweep has seen of these owners. */
  async before(owners: readonly string[]): Promise<Map<string, Observation>> {
    const sweepId = await (await this.store.client).get(this.store.key('gone'));
    return sweepId === null ? new Map() : this.store.readFields(this.keyOf(sweepId), owners);
  }

  /** The answers about a page of owners, also of one that is repeated. */
  async write(
    { sweepId, lock }: Round,
    asked: readonly SeenJobs[],
    gone: readonly GoneOwner[],
  ): Promise<void> {
    if (asked.length === 0) return;
    const key = this.keyOf(sweepId);
    const fields = gone.flatMap(({ owner, ...seen }) => [owner, JSON.stringify(seen)]);
    const entered: Command[] = fields.length > 0 ? [['HSET', key, ...fields]] : [];
    const left: Command = ['HDEL', key, ...asked.map(({ owner }) => owner)];
    await this.store.write([left, ...entered, ['PEXPIRE', key, KEPT_MS]], lock);
  }

  /** All owners were asked about: the next sweep compares with this one. */
  async complete({ sweepId, lock }: Round): Promise<void> {
    const pointer = this.store.key('gone');
    const before = await (await this.store.client).get(pointer);
    const old: Command[] = before === null || before === sweepId ? [] : [['UNLINK', this.keyOf(before)]];
    await this.store.write([['SET', pointer, sweepId, 'PX', KEPT_MS], ...old], lock);
  }

  async candidates(
    sweepId: string,
    cursor: string,
    limit: number,
  ): Promise<{ found: GoneOwner[]; next: string }> {
    const scan: Command = ['HSCAN', this.keyOf(sweepId), cursor, 'COUNT', limit];
    const [[next, fields]] = (await this.store.write([scan])) as [[string, string[]]];
    const found = inGroups(fields, 2).map(([owner, text]) => ({
      owner: owner!,
      ...(JSON.parse(text!) as Observation),
    }));
    return { found: found.filter(({ isCandidate }) => isCandidate), next };
  }

  private keyOf(sweepId: string): string {
    return this.store.key('gone', sweepId);
  }
}
