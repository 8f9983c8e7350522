import { defineWorkload, ownerResolver, reconcileEvery } from '#workload-kit';
import { Logger, type Provider } from '@nestjs/common';
import { CompletionNotifier } from './completion-notifier.js';
import { DiagramCancelFollower } from './diagram-cancel-follower.js';
import { DiagramJobs } from './diagram-jobs.js';
import { OWNER_TYPE, render } from './diagram-kinds.js';
import { DiagramReconciler } from './diagram-reconciler.js';
import { DiagramRepository } from './diagram-repository.js';
import { DiagramStatus } from './diagram-status.js';
import * as env from './diagrams-env.js';
import { DiagramsOptions } from './diagrams-options.js';
import { RenderHandler } from './diagrams.handler.js';
import { RenderProcessor } from './diagrams.processor.js';
import { Renderers } from './render/renderers.js';

export { EXAMPLES, type Example } from './render/examples/examples.js';
export { Renderers } from './render/renderers.js';
export { DIAGRAM_TYPES, type DiagramType } from './render/types.js';

const log = new Logger('Diagrams');

/** For processes that reconcile: every api, so that no diagram waits for a janitor to start, and the janitors. */
const reconciling: Provider[] = [
  DiagramJobs,
  DiagramReconciler,
  DiagramStatus,
  reconcileEvery(2_000, DiagramReconciler),
];

/** Pictures that are drawn from text. */
export const diagrams = defineWorkload({
  name: 'diagrams',
  kinds: [render],
  offers: 'Whether diagrams are offered; see `docs/workloads/diagrams.md`.',
  variables: { all: env.all, api: env.api, worker: env.worker, janitor: env.janitor },
  maxWaitingIn: ({ DIAGRAM_BACKLOG }) => ({ [render.queue]: DIAGRAM_BACKLOG }),
  providers: [DiagramCancelFollower, DiagramRepository, ownerResolver(OWNER_TYPE, DiagramRepository)],
  async api({ CHROMIUM: chromium, DIAGRAM_HEAVY: heavySlots, DIAGRAM_WAIT: waitMs }) {
    const { API } = await import('./diagrams-api.js');
    // Checks sources only, for which one process is enough.
    const renderers = renderersOf(() => new Renderers({ lightProcesses: 1, chromium }));
    const options = { provide: DiagramsOptions, useValue: { heavySlots, waitMs } };
    return { ...API, providers: [...API.providers, ...reconciling, options, renderers] };
  },
  worker: ({ CHROMIUM: chromium, FONTS: fonts }) => ({
    providers: [
      CompletionNotifier,
      RenderHandler,
      RenderProcessor,
      renderersOf(() => new Renderers({ chromium, fonts, warn: (text) => log.warn(text) })),
    ],
  }),
  janitor: ({ DIAGRAM_HEAVY: heavySlots }) => ({
    providers: [...reconciling, { provide: DiagramsOptions, useValue: { heavySlots } }],
  }),
});

function renderersOf(useFactory: () => Renderers): Provider {
  return { provide: Renderers, useFactory };
}
