import type { Workload } from '#workload-kit';
import { containers } from '#workloads/containers';
import { diagrams } from '#workloads/diagrams';
import { probe } from '#workloads/probe';
import { sites } from '#workloads/sites';
import { trips } from '#workloads/trips';

/** Every workload of the fleet. A new one is added here. */
export const WORKLOADS: readonly Workload[] = [probe, trips, sites, diagrams, containers];
