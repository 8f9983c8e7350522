export { request, timeout } from './trips.kinds.js';
export { TripCare } from './trips.care.js';
export { TripsJanitorModule, TripsWorkerModule } from './trips.modules.js';
