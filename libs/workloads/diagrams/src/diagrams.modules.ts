import { LifecycleModule } from '#lifecycle';
import { Logger, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DemoController } from './demo/demo.controller.js';
import { DiagramAskers } from './diagram.askers.js';
import { DiagramCare } from './diagram.care.js';
import { DiagramJobs } from './diagram.jobs.js';
import { DiagramLooks } from './diagram.looks.js';
import { DiagramWaits } from './diagram.waits.js';
import { DiagramEndings } from './diagrams.endings.js';
import { DiagramFollowers } from './diagrams.followers.js';
import { RenderHandler } from './diagrams.handlers.js';
import { render } from './diagrams.kinds.js';
import { DIAGRAMS_DEFAULTS, DiagramsOptions } from './diagrams.options.js';
import { DiagramOwners } from './diagrams.owners.js';
import { DiagramsRelay } from './diagrams.relay.js';
import { DiagramsRepository } from './diagrams.repository.js';
import { DiagramsService } from './diagrams.service.js';
import { DiagramsController } from './http/diagrams.controller.js';
import { KrokiController } from './http/kroki.controller.js';
import { LinksController } from './http/links.controller.js';
import { Pictures } from './http/pictures.js';
import { Renderers } from './render/renderers.js';
import { SourceCheck } from './source.check.js';

const tending: Provider[] = [
  DiagramAskers,
  DiagramCare,
  DiagramFollowers,
  DiagramJobs,
  DiagramLooks,
  DiagramOwners,
  DiagramsRelay,
  DiagramsRepository,
];

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

/** Where they are drawn. */
@Module({})
export class DiagramsWorkerModule {
  static with({ chromium }: Pick<ApiOptions, 'chromium'>): DynamicModule {
    return {
      module: DiagramsWorkerModule,
      imports: [LifecycleModule.forKinds([render])],
      providers: [
        DiagramEndings,
        DiagramOwners,
        DiagramsRepository,
        RenderHandler,
        { provide: Renderers, useFactory: () => new Renderers({ chromium, warn }) },
      ],
    };
  }
}

/** Where what others have left undone is done. */
@Module({})
export class DiagramsJanitorModule {
  static with(options: Partial<DiagramsOptions>): DynamicModule {
    return {
      module: DiagramsJanitorModule,
      imports: [LifecycleModule.forKinds([render])],
      providers: [...tending, optionsOf(options)],
    };
  }
}

function warn(text: string): void {
  new Logger('Diagrams').warn(text);
}

function optionsOf(options: Partial<DiagramsOptions>): Provider {
  return { provide: DiagramsOptions, useValue: { ...DIAGRAMS_DEFAULTS, ...options } };
}
