import { LifecycleModule, type JournalListener } from '#lifecycle';
import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Album } from './album.js';
import { LettersProcessor } from './letters.processor.js';
import { ForgetHandler, ThumbnailHandler, Users } from './photo.handlers.js';
import { forget, thumbnail } from './photo.kinds.js';

export interface SampleOptions {
  readonly storeUrl: string;
  /** Of the library's keys. */
  readonly prefix: string;
  /** Of the application's own queues. */
  readonly ownPrefix: string;
  readonly listener: JournalListener;
}

const STORE = Symbol('the store');

@Module({})
class StoreModule {}

/** An application of its own, with queues of its own: some worked off as ever, some by the library. */
@Module({})
export class SampleModule {
  static with({ storeUrl, prefix, ownPrefix, listener }: SampleOptions): DynamicModule {
    const store: DynamicModule = {
      module: StoreModule,
      providers: [{ provide: STORE, useFactory: () => connect(storeUrl) }],
      exports: [STORE],
    };
    return {
      module: SampleModule,
      imports: [
        store,
        BullModule.forRoot({ connection: { url: storeUrl }, prefix: ownPrefix }),
        BullModule.registerQueue({ name: 'letters' }),
        LifecycleModule.forRootAsync({
          imports: [store],
          inject: [STORE],
          useFactory: (redis: Redis) => ({
            redis,
            prefix,
            listeners: [listener],
            worker: { concurrency: 2 },
          }),
        }),
        LifecycleModule.forKinds([thumbnail]),
        LifecycleModule.forKinds([forget]),
      ],
      providers: [
        Album,
        LettersProcessor,
        ThumbnailHandler,
        ForgetHandler,
        Users,
        { provide: 'end of the store', inject: [STORE], useFactory: (redis: Redis) => new StoreEnd(redis) },
      ],
    };
  }
}

/** Connected before anything asks of it: until then the library says, at once, that the store cannot be reached. */
async function connect(storeUrl: string): Promise<Redis> {
  const redis = new Redis(storeUrl, { maxRetriesPerRequest: null });
  await redis.ping();
  return redis;
}

/** The connection is the application's, and so it ends it; last, when nothing uses it any more. */
class StoreEnd {
  constructor(private readonly redis: Redis) {}

  async onApplicationShutdown(): Promise<void> {
    await this.redis.quit();
  }
}
