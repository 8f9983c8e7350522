export { SiteCare } from './sites.care.js';
export { build } from './sites.kinds.js';
export { SitesApiModule, SitesJanitorModule, SitesWorkerModule } from './sites.modules.js';
