import type { JanitorEnv } from './janitor-env.js';

/** How often things are done. */
export abstract class Intervals {
  abstract readonly CENSUS_EVERY: JanitorEnv['CENSUS_EVERY'];
  abstract readonly EXPIRY_SWEEP_EVERY: JanitorEnv['EXPIRY_SWEEP_EVERY'];
  abstract readonly REPAIR_EVERY: JanitorEnv['REPAIR_EVERY'];
  abstract readonly ORPHAN_SWEEP_EVERY: JanitorEnv['ORPHAN_SWEEP_EVERY'];
  abstract readonly RETENTION_EVERY: JanitorEnv['RETENTION_EVERY'];
  abstract readonly ARTIFACT_SWEEP_EVERY: JanitorEnv['ARTIFACT_SWEEP_EVERY'];
}
