import { MooringModule } from '#nestjs';
import { Module, type DynamicModule } from '@nestjs/common';
import { ownersOf } from './audio.processor.js';
import { ShopModule } from './shop.module.js';

/** The application with owners: its own module is unchanged. */
@Module({})
export class MooredShopModule {
  static at(url: string): DynamicModule {
    return {
      module: MooredShopModule,
      imports: [
        MooringModule.forRoot({ connection: { url }, prefix: 'bull' }),
        MooringModule.forQueue('audio', { ownersOf, limits: { perOwner: 100 } }),
        ShopModule.at(url),
      ],
    };
  }
}
