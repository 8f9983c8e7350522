import type { WorkloadParts } from '#workload-kit';
import { demoPage } from '#workload-kit/api';
import { DriversController } from './drivers.controller.js';
import { OfferHub } from './offers/offer-hub.js';
import { TripsController } from './trips.controller.js';

export const API: WorkloadParts = {
  controllers: [TripsController, DriversController],
  demos: [demoPage('trips', import.meta.url)],
  providers: [OfferHub],
};
