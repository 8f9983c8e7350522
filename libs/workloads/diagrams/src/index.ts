export { ChromiumEnv } from './chromium.env.js';
export { FontsEnv } from './fonts.env.js';
export { EXAMPLES, type Example } from './render/examples/examples.js';
export { DIAGRAMS_DEFAULTS, type DiagramsOptions } from './diagrams-options.js';
export { render } from './diagram-kinds.js';
export { DiagramsJanitorModule, DiagramsWorkerModule } from './diagrams.module.js';
export { Renderers } from './render/renderers.js';
export { DIAGRAM_TYPES, type DiagramType } from './render/types.js';
