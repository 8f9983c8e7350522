import { BullModule } from '@nestjs/bullmq';
import { Module, type DynamicModule } from '@nestjs/common';
import { AudioProcessor } from './audio.processor.js';
import { Ledger } from './ledger.js';
import { MailProcessor } from './mail.processor.js';
import { Uploads } from './uploads.service.js';

/** A common application: two queues, their processors, a flow producer, under BullMQ's own prefix. */
@Module({})
export class ShopModule {
  static at(url: string): DynamicModule {
    return {
      module: ShopModule,
      imports: [
        BullModule.forRoot({ connection: { url }, prefix: 'bull' }),
        BullModule.registerQueue({ name: 'audio' }, { name: 'mail' }),
        BullModule.registerFlowProducer({ name: 'albums' }),
      ],
      providers: [Ledger, AudioProcessor, MailProcessor, Uploads],
    };
  }
}
