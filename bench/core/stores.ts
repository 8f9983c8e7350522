import { findPostgres } from '../harness/postgres-server.js';
import { GRAPHILE_TABLES } from './rivals/graphile-worker.js';
import { installRivals } from './rivals/install.js';
import { PG_BOSS_TABLES } from './rivals/pg-boss.js';
import { PostgresSideStore } from './rivals/postgres-side-store.js';
import { RedisSideStore, type SideStore } from './side-store.js';
import { isRival, type RivalName, type SideName } from './sides.js';

const TABLES: Readonly<Record<RivalName, readonly string[]>> = {
  'pg-boss': PG_BOSS_TABLES,
  'graphile-worker': GRAPHILE_TABLES,
};
/** As for a missing redis-server. */
const CANNOT_BE_MEASURED = 2;

/** The stores of the sides of one contest. */
export class Stores {
  private constructor(private readonly bySide: ReadonlyMap<SideName, SideStore>) {}

  /** One Redis for all that use it, and a PostgreSQL for each that uses that. */
  static async shared(sides: readonly SideName[]): Promise<Stores> {
    const stores = new Map<SideName, SideStore>();
    const redis = sides.every(isRival) ? undefined : await RedisSideStore.start();
    for (const side of sides) stores.set(side, isRival(side) ? await startPostgresFor(side) : redis!);
    return new Stores(stores);
  }

  /** One for each side, which then keeps what the others do not see. */
  static async apart(sides: readonly SideName[]): Promise<Stores> {
    const stores = new Map<SideName, SideStore>();
    for (const side of sides)
      stores.set(side, isRival(side) ? await startPostgresFor(side) : await RedisSideStore.start());
    return new Stores(stores);
  }

  of(side: SideName): SideStore {
    return this.bySide.get(side)!;
  }

  async stop(): Promise<void> {
    for (const store of new Set(this.bySide.values())) await store.stop();
  }
}

/** Installs what a rival needs before anything is measured; ends where there is no PostgreSQL. */
export function needRivals(sides: readonly SideName[], say: (line: string) => void): void {
  const rival = sides.find(isRival);
  if (!rival) return;
  if (!findPostgres()) {
    console.error(
      `The side ${rival} needs a PostgreSQL, and there is none. Install it, as in: apt-get install postgresql`,
    );
    process.exit(CANNOT_BE_MEASURED);
  }
  installRivals(say);
}

function startPostgresFor(side: RivalName): Promise<PostgresSideStore> {
  return PostgresSideStore.start(findPostgres()!, TABLES[side]);
}
