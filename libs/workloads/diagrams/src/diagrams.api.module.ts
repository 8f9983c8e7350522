import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule } from '@nestjs/common';
import { DemoController } from './demo/demo.controller.js';
import { DiagramWaits } from './diagram.waits.js';
import { render } from './diagrams.kinds.js';
import { optionsOf, tending } from './diagrams.modules.js';
import type { DiagramsOptions } from './diagrams.options.js';
import { DiagramsService } from './diagrams.service.js';
import { DiagramsController } from './http/diagrams.controller.js';
import { KrokiController } from './http/kroki.controller.js';
import { LinksController } from './http/links.controller.js';
import { Pictures } from './http/pictures.js';
import { Renderers } from './render/renderers.js';
import { SourceCheck } from './source.check.js';

interface ApiOptions extends Partial<DiagramsOptions> {
  readonly demo: boolean;
  /** As `CHROMIUM` says. */
  readonly chromium: string | undefined;
}

/** Where diagrams are asked for and shown. */
@Module({})
export class DiagramsApiModule {
  static with({ demo, chromium, ...options }: ApiOptions): DynamicModule {
    return {
      module: DiagramsApiModule,
      imports: [LifecycleModule.forKinds([render])],
      controllers: [DiagramsController, LinksController, KrokiController, ...(demo ? [DemoController] : [])],
      providers: [
        ...tending,
        DiagramsService,
        DiagramWaits,
        Pictures,
        SourceCheck,
        optionsOf(options),
        // It only checks: one process does.
        { provide: Renderers, useFactory: () => new Renderers({ lightProcesses: 1, chromium }) },
      ],
    };
  }
}
