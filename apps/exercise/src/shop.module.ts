import { MooringHttpModule } from '#http';
import { MooringModule } from '#nestjs';
import '#nestjs/register';
import { Controller, HttpCode, Inject, Module, Post, type DynamicModule } from '@nestjs/common';
import type { Redis } from 'ioredis';
import {
  BillingProcessor,
  InvoiceHandler,
  LabelHandler,
  MailProcessor,
  ReceiptHandler,
  Release,
  ShippingProcessor,
} from './shop.handlers.js';
import { KINDS } from './shop.kinds.js';

/** Stands for the tool that deploys the shop. */
@Controller('rollback')
class RollbackController {
  constructor(@Inject(Release) private readonly release: Release) {}

  @Post()
  @HttpCode(200)
  rollBack(): object {
    this.release.number = 1;
    return { release: this.release.number };
  }
}

/** A shop in one process: its API, its workers, and its sweeps. */
@Module({})
export class ShopModule {
  static with(redis: Redis, prefix: string): DynamicModule {
    return {
      module: ShopModule,
      imports: [
        MooringModule.forRoot({
          connection: redis,
          prefix,
          sweeps: true,
          listeners: [],
          worker: { concurrency: 10 },
        }),
        MooringModule.forKinds(KINDS),
        MooringHttpModule.register({ guard: false }),
      ],
      controllers: [RollbackController],
      providers: [
        Release,
        ReceiptHandler,
        InvoiceHandler,
        LabelHandler,
        MailProcessor,
        BillingProcessor,
        ShippingProcessor,
      ],
    };
  }
}
