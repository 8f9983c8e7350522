import { MooringModule, type FactListener } from '#nestjs';
import '#nestjs/register';
import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import { Redis } from 'ioredis';
import { Album } from './album.js';
import { LettersProcessor } from './letters.processor.js';
import {
  ChoresProcessor,
  ForgetHandler,
  PhotosProcessor,
  ThumbnailHandler,
  Users,
} from './photo.handlers.js';
import { forget, thumbnail } from './photo.kinds.js';

export interface SampleOptions {
  readonly storeUrl: string;
  /** The queues of kinds. */
  readonly prefix: string;
  /** The application's own queues. */
  readonly ownPrefix: string;
  readonly listener: FactListener;
}

const STORE = Symbol('the store');

@Module({})
class StoreModule {}

/** An application with queues of its own: some run as before, some run with the library. */
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
        MooringModule.forRootAsync({
          imports: [store],
          inject: [STORE],
          useFactory: (redis: Redis) => ({
            connection: redis,
            prefix,
            listeners: [listener],
            worker: { concurrency: 2 },
          }),
        }),
        MooringModule.forKinds([thumbnail]),
        MooringModule.forKinds([forget]),
      ],
      providers: [
        Album,
        LettersProcessor,
        ThumbnailHandler,
        ForgetHandler,
        PhotosProcessor,
        ChoresProcessor,
        Users,
        { provide: 'end of the store', inject: [STORE], useFactory: (redis: Redis) => new StoreEnd(redis) },
      ],
    };
  }
}

/** Connected before the first call: until then the library answers at once that the store is unreachable. */
async function connect(storeUrl: string): Promise<Redis> {
  const redis = new Redis(storeUrl, { maxRetriesPerRequest: null });
  await redis.ping();
  return redis;
}

/** The application owns the connection, so it closes it; last, when nothing uses it any more. */
class StoreEnd {
  constructor(private readonly redis: Redis) {}

  async onApplicationShutdown(): Promise<void> {
    await this.redis.quit();
  }
}
