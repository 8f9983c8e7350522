import { LifecycleModule } from '#lifecycle';
import { Logger, Module, type DynamicModule, type Provider } from '@nestjs/common';
import { DiagramRequesters } from './diagram-requesters.js';
import { DiagramReconciler } from './diagram-reconciler.js';
import { DiagramJobs } from './diagram-jobs.js';
import { DiagramStatus } from './diagram-status.js';
import { CompletionNotifier } from './completion-notifier.js';
import { OwnerCancelFollower } from './owner-cancel-follower.js';
import { RenderHandler } from './diagrams.handler.js';
import { render } from './diagram-kinds.js';
import { DIAGRAMS_DEFAULTS, DiagramsOptions } from './diagrams-options.js';
import { DiagramOwnerResolver } from './diagram-owner.resolver.js';
import { DiagramReconcileLoop } from './diagram-reconcile-loop.js';
import { DiagramRepository } from './diagram-repository.js';
import type { RenderLimits } from './render/limits.js';
import { Renderers } from './render/renderers.js';

/** Providers of the processes that reconcile: every api and the janitor. */
export const reconcilers: Provider[] = [
  DiagramRequesters,
  DiagramReconciler,
  OwnerCancelFollower,
  DiagramJobs,
  DiagramStatus,
  DiagramOwnerResolver,
  DiagramReconcileLoop,
  DiagramRepository,
];

/** Workers: draw diagrams. */
@Module({})
export class DiagramsWorkerModule {
  static with(drawing: Pick<RenderLimits, 'chromium' | 'fonts'>): DynamicModule {
    return {
      module: DiagramsWorkerModule,
      imports: [LifecycleModule.forKinds([render])],
      providers: [
        CompletionNotifier,
        OwnerCancelFollower,
        DiagramOwnerResolver,
        DiagramRepository,
        RenderHandler,
        { provide: Renderers, useFactory: () => new Renderers({ ...drawing, warn }) },
      ],
    };
  }
}

/** Janitors: reconcile diagrams. */
@Module({})
export class DiagramsJanitorModule {
  static with(options: Partial<DiagramsOptions>): DynamicModule {
    return {
      module: DiagramsJanitorModule,
      imports: [LifecycleModule.forKinds([render])],
      providers: [...reconcilers, optionsOf(options)],
    };
  }
}

function warn(text: string): void {
  new Logger('Diagrams').warn(text);
}

export function optionsOf(options: Partial<DiagramsOptions>): Provider {
  return { provide: DiagramsOptions, useValue: { ...DIAGRAMS_DEFAULTS, ...options } };
}
