export { SiteReconciler } from './site-reconciler.js';
export { build } from './site-kinds.js';
export { SitesJanitorModule, SitesWorkerModule } from './sites.module.js';
