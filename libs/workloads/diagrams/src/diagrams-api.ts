import { demoPage } from '#workload-kit/api';
import { DiagramWaiter } from './diagram-waiter.js';
import { DiagramsService } from './diagrams.service.js';
import { DiagramsController } from './http/diagrams.controller.js';
import { KrokiController } from './http/kroki.controller.js';
import { LinksController } from './http/links.controller.js';
import { Pictures } from './http/pictures.js';
import { EXAMPLES } from './render/examples/examples.js';
import { DIAGRAM_TYPES } from './render/types.js';
import { SourceCheck } from './source-check.js';

export const API = {
  controllers: [DiagramsController, LinksController, KrokiController],
  demos: [demoPage('diagrams', import.meta.url, { values: { EXAMPLES, TYPES: DIAGRAM_TYPES } })],
  providers: [DiagramsService, DiagramWaiter, Pictures, SourceCheck],
};
