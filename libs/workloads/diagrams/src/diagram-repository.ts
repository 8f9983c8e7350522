import { JobRetention } from '#nestjs';
import { LuaScripts, WorkloadRepository, WorkloadStore } from '#workload-kit';
import { Injectable } from '@nestjs/common';
import { askedBy, dueIn, goneKey, isDiagramId, keysOf, linkKey, newLink } from './diagram-keys.js';
import type { Flaw, DiagramRecord } from './diagram.js';
import { render } from './diagram-kinds.js';
import type { RenderRequest } from './render/types.js';

export const scripts = new LuaScripts(import.meta.url);

/** How long the short link of a removed picture answers 410. */
const GONE_KEPT_MS = 7 * 86_400_000;
/** How long one process may take to enqueue a job; longer than the store's time limit. */
const TURN_MS = 5_000;
const TENDED_AFTER_MS = 5_000;
const LEFT_ALONE_MS = 10_000;
/** Per shard; counts diagrams whose pictures are gone, because their short links remain. */
const MOST_KNOWN = 10_000;
/** Requests remembered per owner. */
const MOST_ASKED = 10_000;
/** Distinguished requesters per diagram. Each of them is checked by the reconciler. */
const MOST_ASKERS = 100;
const PAGE = 100;

/** A requester: an owner and its epoch; '' for callers without an owner. */
export interface Asker {
  readonly owner: string;
  readonly epoch: string;
}

/** For an owner without a record, which has no epoch: epochs are times of the store in µs. */
export function epochAt(ms: number): string {
  return String(ms * 1_000);
}

export const NO_OWNER: Asker = { owner: '', epoch: '' };

/** The leave to enqueue the job of a diagram. */
export interface Claim {
  readonly id: string;
  readonly turn: string;
  readonly link: string;
}

type Asked =
  | { readonly word: 'ask'; readonly link: string; readonly turn: string }
  | { readonly word: 'wait' | 'job'; readonly link: string };

/** Diagrams and their requesters in the store. Each change is one script. */
@Injectable()
export class DiagramRepository extends WorkloadRepository {
  protected override readonly scripts = scripts;
  readonly isOurs = isDiagramId;
  private readonly keepMs: number;

  constructor(store: WorkloadStore, retention: JobRetention) {
    super(store);
    this.keepMs = retention.of(render, 'completed').age * 1_000 + GONE_KEPT_MS;
  }

  /** Remembered again after the request: removing an older request may just have forgotten it. */
  async ask(id: string, request: RenderRequest, asker: Asker): Promise<Asked> {
    const { owner } = asker;
    if (owner === '') return this.write(id, request, asker);
    await this.remember(id, owner);
    const asked = await this.write(id, request, asker);
    await this.remember(id, owner);
    return asked;
  }

  /**
   * Claims the replacement of a job that ended without a picture; undefined if another process has the claim
   * or the diagram has another job.
   */
  async claim(id: string, job: string | undefined): Promise<string | undefined> {
    const [word, turn] = (await this.run('claim', id, [job ?? '', TURN_MS])) as [string, number];
    return word === 'ask' ? String(turn) : undefined;
  }

  async noted({ id, turn }: Claim, job: string, by: string): Promise<void> {
    await this.run('noted', id, [turn, job, by]);
  }

  /** Without `asker`, all requesters keep waiting. */
  async refused({ id, turn, link }: Claim, asker?: Asker): Promise<void> {
    const { diagram, known } = keysOf(this.prefix, id);
    const keys = [diagram, linkKey(this.prefix, link), known];
    await this.runScript('refused', keys, [turn, asker ? asker.owner : '-']);
  }

  async begin(id: string, job: string, by: string, renderer: string): Promise<'ok' | 'other' | 'gone'> {
    return (await this.run('begin', id, [job, by, renderer])) as 'ok' | 'other' | 'gone';
  }

  async recordFlaw(id: string, job: string, why: Flaw): Promise<void> {
    await this.run('record', id, [job, 'e', JSON.stringify(why)]);
  }

  async recordWarnings(id: string, job: string, warnings: readonly string[]): Promise<void> {
    await this.run('record', id, [job, 'w', JSON.stringify(warnings)]);
  }

  async join(id: string, source: string): Promise<void> {
    await this.run('join', id, [source, this.keepMs, TENDED_AFTER_MS]);
  }

  async settled(id: string, job: string | undefined): Promise<void> {
    await this.run('settled', id, [job ?? '']);
  }

  /** Removes a requester. Returns whether others remain, or else the job to end, if there is one. */
  async strike(id: string, owner: string, epoch: string): Promise<'kept' | 'some' | { job: string }> {
    const [word, job] = (await this.run('strike', id, [owner, epoch, TENDED_AFTER_MS])) as [string, string];
    return word === 'none' ? { job } : (word as 'kept' | 'some');
  }

  async find(id: string): Promise<DiagramRecord | undefined> {
    const { diagram } = keysOf(this.prefix, id);
    const found = await this.call((redis) => redis.hgetall(diagram));
    const { type, output, link, at, job, by, r, e, g, w } = found;
    if (link === undefined) return undefined;
    return {
      id,
      type: type as DiagramRecord['type'],
      output: output as DiagramRecord['output'],
      link,
      createdAtMs: Number(at),
      job,
      by: by ?? '',
      renderer: r,
      flaw: e === undefined ? undefined : (JSON.parse(e) as Flaw),
      warnings: w === undefined ? [] : (JSON.parse(w) as string[]),
      isOver: g !== undefined,
    };
  }

  async askers(id: string): Promise<Asker[]> {
    const { diagram } = keysOf(this.prefix, id);
    const found = await this.call((redis) => redis.hgetall(`${diagram}:askers`));
    return Object.entries(found).map(([owner, epoch]) => ({ owner, epoch }));
  }

  /** For a diagram without a job: true if a process is enqueueing one, or will. */
  async mustBeMade(id: string): Promise<boolean> {
    const { diagram } = keysOf(this.prefix, id);
    const until = await this.call((redis) => redis.hget(diagram, 'u'));
    if (until !== null && Number(until) > (await this.now())) return true;
    return (await this.source(id)) !== undefined;
  }

  async source(id: string): Promise<string | undefined> {
    const { diagram } = keysOf(this.prefix, id);
    return (await this.call((redis) => redis.get(`${diagram}:source`))) ?? undefined;
  }

  async idOfLink(link: string): Promise<string | undefined> {
    return (await this.call((redis) => redis.get(linkKey(this.prefix, link)))) ?? undefined;
  }

  /** One flag per id: a request for the diagram is remembered. */
  async live(ids: readonly string[]): Promise<boolean[]> {
    const keys = ids.map((id) => keysOf(this.prefix, id).diagram);
    return Promise.all(keys.map((key) => this.call(async (redis) => (await redis.exists(key)) === 1)));
  }

  /** The requests of an owner. Concurrent removals may cause repeats, but no omissions. */
  async *askedBy(owner: string): AsyncGenerator<{ id: string; at: string }> {
    const key = askedBy(this.prefix, owner);
    let cursor = '0';
    do {
      const from = cursor;
      const [next, found] = await this.call((redis) => redis.zscan(key, from, 'COUNT', PAGE));
      for (let i = 0; i < found.length; i += 2) yield { id: found[i]!, at: found[i + 1]! };
      cursor = next;
    } while (cursor !== '0');
  }

  /** Keeps the entry if the owner has requested the diagram again since. */
  async forgetAsked(owner: string, { id, at }: { id: string; at: string }): Promise<void> {
    await this.runScript('forget', [askedBy(this.prefix, owner)], [id, at]);
  }

  /** Takes due diagrams of one list and hides them from other processes for a while. */
  take(shard: string, most: number): Promise<string[]> {
    return this.takeDue(dueIn(this.prefix, shard), most, LEFT_ALONE_MS);
  }

  async ended(shard: string, job: string): Promise<void> {
    await this.call((redis) => redis.zrem(dueIn(this.prefix, shard), job));
  }

  async noteGone(owner: string, epoch: string): Promise<void> {
    await this.runScript('gone', [goneKey(this.prefix)], [`${epoch} ${owner}`]);
  }

  async forgetGone(owner: string, epoch: string): Promise<void> {
    await this.call((redis) => redis.zrem(goneKey(this.prefix), `${epoch} ${owner}`));
  }

  async takeGone(most: number): Promise<{ owner: string; epoch: string }[]> {
    const found = await this.takeDue(goneKey(this.prefix), most, LEFT_ALONE_MS);
    return found.map((each) => {
      const at = each.indexOf(' ');
      return { epoch: each.slice(0, at), owner: each.slice(at + 1) };
    });
  }

  get overChannel(): string {
    return `${this.prefix}:{diagrams}:over`;
  }

  /** Tells waiting processes that the job of a diagram has ended. */
  async announceEnd(id: string): Promise<void> {
    await this.call((redis) => redis.publish(this.overChannel, id));
  }

  private async write(id: string, { type, output }: RenderRequest, { owner, epoch }: Asker): Promise<Asked> {
    for (;;) {
      const link = newLink(id);
      const args = [id, link, type, output, owner, epoch, this.keepMs, TURN_MS, MOST_KNOWN, MOST_ASKERS];
      const { diagram, known: list } = keysOf(this.prefix, id);
      const keys = [diagram, linkKey(this.prefix, link), list];
      const answer = await this.runScript('ask', keys, args);
      const [word, known, turn] = answer as [Asked['word'] | 'taken', string, number];
      if (word === 'ask') return { word, link: known, turn: String(turn) };
      if (word !== 'taken') return { word, link: known };
    }
  }

  private async remember(id: string, owner: string): Promise<void> {
    await this.runScript('remember', [askedBy(this.prefix, owner)], [id, this.keepMs, MOST_ASKED]);
  }

  private run(name: string, id: string, args: readonly (string | number)[]): Promise<unknown> {
    const { diagram, due } = keysOf(this.prefix, id);
    return this.runScript(name, [diagram, due], args);
  }
}
