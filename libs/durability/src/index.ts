export type { Durability, DurabilityLevel } from './durability.js';
export { SlotServer, type Servers } from './servers.js';
export { StoreDurability, type StoreDurabilityOptions } from './store-durability.js';
