import { LifecycleModule } from '#lifecycle';
import { Module, type DynamicModule } from '@nestjs/common';
import { DemoController } from './demo/demo.controller.js';
import { DiagramWaiter } from './diagram-waiter.js';
import { render } from './diagram-kinds.js';
import { optionsOf, reconcilers } from './diagrams.module.js';
import type { DiagramsOptions } from './diagrams-options.js';
import { DiagramsService } from './diagrams.service.js';
import { DiagramsController } from './http/diagrams.controller.js';
import { KrokiController } from './http/kroki.controller.js';
import { LinksController } from './http/links.controller.js';
import { Pictures } from './http/pictures.js';
import { Renderers } from './render/renderers.js';
import { SourceCheck } from './source-check.js';

interface ApiOptions extends Partial<DiagramsOptions> {
  readonly demo: boolean;
  /** Value of `CHROMIUM`. */
  readonly chromium: string | undefined;
}

/** HTTP routes for diagrams and pictures. */
@Module({})
export class DiagramsApiModule {
  static with({ demo, chromium, ...options }: ApiOptions): DynamicModule {
    return {
      module: DiagramsApiModule,
      imports: [LifecycleModule.forKinds([render])],
      controllers: [DiagramsController, LinksController, KrokiController, ...(demo ? [DemoController] : [])],
      providers: [
        ...reconcilers,
        DiagramsService,
        DiagramWaiter,
        Pictures,
        SourceCheck,
        optionsOf(options),
        // Checks sources only, for which one process is enough.
        { provide: Renderers, useFactory: () => new Renderers({ lightProcesses: 1, chromium }) },
      ],
    };
  }
}
