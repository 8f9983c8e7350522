import type { Workload } from '#workload-kit';
import { containers } from '#workloads/containers';
import { diagrams } from '#workloads/diagrams';
import { probe } from '#workloads/probe';
import { sites } from '#workloads/sites';
import { trips } from '#workloads/trips';

/** Every workload of the fleet. */
export const WORKLOADS: readonly Workload[] = [
  // A new workload is a line here.
  probe,
  trips,
  diagrams,
  sites,
  containers,
];
