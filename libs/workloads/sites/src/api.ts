export { SitesApiModule } from './sites-api.module.js';
