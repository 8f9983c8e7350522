import { LifecycleModule } from '#lifecycle';
import { Logger, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiagramAskers } from './diagram.askers.js';
import { DiagramCare } from './diagram.care.js';
import { DiagramJobs } from './diagram.jobs.js';
import { DiagramLooks } from './diagram.looks.js';
import { DiagramEndings } from './diagrams.endings.js';
import { DiagramFollowers } from './diagrams.followers.js';
import { RenderHandler } from './diagrams.handlers.js';
import { render } from './diagrams.kinds.js';
import { DIAGRAMS_DEFAULTS, DiagramsOptions } from './diagrams.options.js';
import { DiagramOwners } from './diagrams.owners.js';
import { DiagramsRelay } from './diagrams.relay.js';
import { DiagramsRepository } from './diagrams.repository.js';
import type { RenderLimits } from './render/limits.js';
import { Renderers } from './render/renderers.js';

/** Who does what others have left undone: every api, and the janitor. */
export const tending: Provider[] = [
  DiagramAskers,
  DiagramCare,
  DiagramFollowers,
  DiagramJobs,
  DiagramLooks,
  DiagramOwners,
  DiagramsRelay,
  DiagramsRepository,
];

/** Where they are drawn. */
@Module({})
export class DiagramsWorkerModule {
  static with(drawing: Pick<RenderLimits, 'chromium' | 'fonts'>): DynamicModule {
    return {
      module: DiagramsWorkerModule,
      imports: [LifecycleModule.forKinds([render])],
      providers: [
        DiagramEndings,
        DiagramFollowers,
        DiagramOwners,
        DiagramsRepository,
        RenderHandler,
        { provide: Renderers, useFactory: () => new Renderers({ ...drawing, warn }) },
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

export function optionsOf(options: Partial<DiagramsOptions>): Provider {
  return { provide: DiagramsOptions, useValue: { ...DIAGRAMS_DEFAULTS, ...options } };
}
