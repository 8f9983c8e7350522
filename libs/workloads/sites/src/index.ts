export { SiteCare } from './sites.care.js';
export { build } from './sites.kinds.js';
export { SitesJanitorModule, SitesWorkerModule } from './sites.modules.js';
