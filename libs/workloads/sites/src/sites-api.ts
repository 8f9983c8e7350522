import { demoPage } from '#workload-kit/api';
import { BuildReader } from './build-reader.js';
import { ServedController } from './http/served.controller.js';
import { SitesController } from './http/sites.controller.js';
import { ServedSites } from './served-sites.js';
import { SitesService } from './sites.service.js';

export const API = {
  controllers: [SitesController, ServedController],
  demos: [demoPage('sites', import.meta.url, { frames: 'self' })],
  providers: [BuildReader, ServedSites, SitesService],
};
