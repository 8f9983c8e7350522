export { TripsApiModule } from './trips-api.module.js';
