import { Cluster } from 'ioredis';
import { describeAddress, type StoreAddress } from '../config/store-config.js';
import type { Log } from '../log/log.js';
import { checkStore, UnfitStoreError } from './check.js';
import { connectStore, reasonOf, type StoreConnection } from './connect.js';

const LOOK_AGAIN_MS = 1_000;

/**
 * The connection, and whether what it leads to may be used. It is looked at each time the connection is made: another
 * store may answer than before. Until it was found fit, no work should be taken from it.
 */
export class MonitoredStore {
  readonly redis: StoreConnection;
  private readonly name: string;
  private isFit = false;
  private again: NodeJS.Timeout | undefined;
  private found!: () => void;
  /** When it was found fit for the first time. */
  readonly fit = new Promise<void>((resolve) => (this.found = resolve));

  constructor(
    address: StoreAddress,
    private readonly prefix: string,
    private readonly log: Log,
    /** Told when the store must not be used, with what to do about it. */
    private readonly refuse: (why: string) => void,
    hasCallers = false,
  ) {
    this.name = describeAddress(address);
    this.redis = connectStore(address, log, hasCallers);
    this.redis.on('ready', () => this.look());
    this.redis.on('error', (error: Error) => {
      const why = reasonOf(error);
      if (!this.isFit && /^(WRONGPASS|NOAUTH|NOPERM)/.test(why)) {
        this.refuse(`The store at ${this.name} refuses this user or password (${why}).`);
      }
    });
  }

  /** Why no work should be taken, or nothing. */
  async trouble(): Promise<string | undefined> {
    if (this.redis.status !== 'ready') return 'the store cannot be reached';
    if (this.redis instanceof Cluster) {
      if (!/^cluster_state:ok/m.test(await this.redis.cluster('INFO'))) return 'the Cluster lacks nodes';
    } else {
      await this.redis.ping();
    }
    return this.isFit ? undefined : 'the store was not looked at yet';
  }

  private look(): void {
    clearTimeout(this.again);
    if (this.redis.status !== 'ready') return;
    this.isFit = false;
    checkStore(this.redis, this.prefix).then(
      () => {
        this.isFit = true;
        this.found();
      },
      (error: unknown) => {
        if (error instanceof UnfitStoreError) return this.refuse(`${this.name}: ${error.message}`);
        if (!this.again) {
          this.log.warn(
            { event: 'store.unchecked', err: error },
            `Could not look at the store at ${this.name}`,
          );
        }
        // A Cluster stays ready when one of its nodes does not answer, so no event would trigger another check.
        this.again = setTimeout(() => this.look(), LOOK_AGAIN_MS).unref();
      },
    );
  }
}
