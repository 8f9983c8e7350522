export { build } from './sites.kinds.js';
export { SitesApiModule, SitesJanitorModule, SitesWorkerModule } from './sites.modules.js';
