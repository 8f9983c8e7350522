import type { Redis } from 'ioredis';

/** The place of a BullMQ job, and what the core has written on it. */
export interface StoredJob {
  readonly name: string;
  /** `active`, `wait`, …; `nowhere` for a job in none of BullMQ's lists. */
  readonly place: string;
  readonly isLocked: boolean;
  /** How many of its runs have begun. */
  readonly begun: number;
  /** ms, while it is delayed. */
  readonly delay: number;
  readonly mark: Mark | undefined;
}

interface Mark {
  readonly owners: readonly { readonly name: string; readonly epoch: string }[];
  /** ms, or '' */
  readonly startBy: string;
  readonly key: string;
  readonly slot: string;
}

export interface StoredOwner {
  readonly epoch: string;
  readonly state: string | undefined;
  readonly cancel: string | undefined;
  /** Its unfinished jobs, `<queue>:<id>`, and the epochs that they were enqueued under. */
  readonly jobs: ReadonlyMap<string, string>;
  readonly expires: boolean;
}

/** Everything under a prefix at one moment. */
export interface CoreState {
  /** By the store's clock, ms. */
  readonly at: number;
  readonly jobs: ReadonlyMap<string, StoredJob>;
  /** Entries in BullMQ's lists that are no jobs: the place by `<queue>:<id>`. */
  readonly ghosts: ReadonlyMap<string, string>;
  readonly owners: ReadonlyMap<string, StoredOwner>;
  /** `<owner>|<digest>` → job */
  readonly pending: ReadonlyMap<string, string>;
  readonly directory: ReadonlySet<string>;
  readonly holders: ReadonlyMap<string, readonly string[]>;
  readonly lines: ReadonlyMap<string, readonly string[]>;
  readonly limits: ReadonlyMap<string, number>;
  readonly rates: ReadonlySet<string>;
  /** Slots with a rate whose line waits for a token. */
  readonly due: ReadonlySet<string>;
  /** Queues whose owners' turns are remembered. */
  readonly fair: readonly string[];
  readonly cancels: readonly string[];
  /** cancelId → its fields */
  readonly receipts: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

const UNFINISHED: ReadonlySet<string> = new Set(
  'wait paused active prioritized delayed waiting-children'.split(' '),
);
const PLACES: ReadonlySet<string> = new Set([...UNFINISHED, 'completed', 'failed']);

/** Reads all keys in one step: the result is consistent, whatever other processes do. */
const DUMP = `
  local found = {}
  for _, key in ipairs(redis.call('KEYS', ARGV[1] .. '*')) do
    local kind, values = redis.call('TYPE', key).ok, {}
    if kind == 'hash' then values = redis.call('HGETALL', key)
    elseif kind == 'zset' then values = redis.call('ZRANGE', key, 0, -1)
    elseif kind == 'list' then values = redis.call('LRANGE', key, 0, -1)
    elseif kind == 'set' then values = redis.call('SMEMBERS', key)
    elseif kind == 'string' then values = { redis.call('GET', key) } end
    found[#found + 1] = { string.sub(key, #ARGV[1] + 1), kind, redis.call('PTTL', key), values }
  end
  local time = redis.call('TIME')
  return { time[1] .. string.sub('00000' .. time[2], -6, -4), found }`;

type Dump = [key: string, kind: string, ttl: number, values: string[]][];

export async function readCoreState(redis: Redis, prefix: string): Promise<CoreState> {
  const [at, dump] = (await redis.eval(DUMP, 0, prefix)) as [string, Dump];
  const ours = (name: string): Map<string, Dump[number]> =>
    new Map(
      dump
        .filter(([key]) => key.startsWith(`~${name}~`))
        .map((entry) => [entry[0].slice(name.length + 2), entry]),
    );
  const valuesOf = (name: string) => new Map([...ours(name)].map(([key, [, , , values]]) => [key, values]));
  const places = placesIn(dump);
  const jobs = jobsIn(dump, places);
  return {
    at: Number(at),
    jobs,
    ghosts: new Map([...places].filter(([ref]) => !jobs.has(ref))),
    owners: new Map([...ours('owner')].map(([name, [, , ttl, fields]]) => [name, ownerOf(fields, ttl)])),
    pending: new Map(
      [...valuesOf('pending')].flatMap(([owner, fields]) =>
        pairs(fields).map(([key, ref]) => [`${owner}|${key}`, ref] as const),
      ),
    ),
    directory: new Set([...valuesOf('owners').values()].flat()),
    holders: valuesOf('slot'),
    lines: valuesOf('line'),
    limits: new Map([...valuesOf('limit')].map(([key, [limit]]) => [key, Number(limit)])),
    rates: new Set(valuesOf('rate').keys()),
    due: new Set(dump.find(([key]) => key === '~due')?.[3]),
    fair: [...ours('fair').keys()],
    cancels: dump.find(([key]) => key === '~cancels')?.[3] ?? [],
    receipts: new Map([...valuesOf('receipt')].map(([id, fields]) => [id, new Map(pairs(fields))])),
  };
}

export function isUnfinished({ place }: StoredJob): boolean {
  return UNFINISHED.has(place);
}

function placesIn(dump: Dump): Map<string, string> {
  const places = new Map<string, string>();
  for (const [key, , , ids] of dump) {
    const [, queue, place] = /^:([^:]*):([a-z-]+)$/.exec(key) ?? [];
    if (place && PLACES.has(place)) for (const id of ids) places.set(`${queue}:${id}`, place);
  }
  return places;
}

function jobsIn(dump: Dump, places: ReadonlyMap<string, string>): Map<string, StoredJob> {
  const keys = new Set(dump.map(([key]) => key));
  const jobs = new Map<string, StoredJob>();
  for (const [key, kind, , values] of dump) {
    const fields =
      kind === 'hash' && key.startsWith(':') ? new Map(pairs(values)) : new Map<string, string>();
    if (!fields.has('timestamp') || !fields.has('data')) continue;
    const ref = key.slice(1);
    jobs.set(ref, {
      name: fields.get('name') ?? '',
      place: places.get(ref) ?? 'nowhere',
      isLocked: keys.has(`${key}:lock`),
      begun: Number(fields.get('ats') ?? 0),
      delay: Number(fields.get('delay') ?? 0),
      mark: markIn(fields.get('opts') ?? '{}'),
    });
  }
  return jobs;
}

function ownerOf(values: readonly string[], ttl: number): StoredOwner {
  const fields = new Map(pairs(values));
  return {
    epoch: fields.get('epoch') ?? '',
    state: fields.get('state'),
    cancel: fields.get('cancel'),
    jobs: new Map([...fields].filter(([name]) => name.includes(':'))),
    expires: ttl > 0,
  };
}

/** Parsed here separately, not by the code under test. */
function markIn(opts: string): Mark | undefined {
  const { mooring } = JSON.parse(opts) as { mooring?: string };
  if (mooring === undefined) return undefined;
  const [epoch = '', name = '', startBy = '', key = '', , slot = '', ...further] = mooring.split('|');
  const owners = pairs(further).map(([its, other]) => ({ name: other, epoch: its }));
  // A rate stands behind its slot.
  return { owners: [{ name, epoch }, ...owners], startBy, key, slot: slot.split(' ')[0]! };
}

function pairs(values: readonly string[]): [string, string][] {
  return values.flatMap((value, i) => (i % 2 === 0 ? [[value, values[i + 1]!] as [string, string]] : []));
}
