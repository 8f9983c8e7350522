export { DIAGRAMS_DEFAULTS, type DiagramsOptions } from './diagrams.options.js';
export { render } from './diagrams.kinds.js';
export { DiagramsApiModule, DiagramsJanitorModule, DiagramsWorkerModule } from './diagrams.modules.js';
