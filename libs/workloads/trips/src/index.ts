export { request, timeout } from './trip-kinds.js';
export { TripReconciler } from './trip-reconciler.js';
export { TripsJanitorModule, TripsWorkerModule } from './trips.module.js';
