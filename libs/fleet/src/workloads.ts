import type { Workload } from '#workload-kit';
import { probe } from '#workloads/probe';

/** Every workload of the fleet. A new one is added here. */
export const WORKLOADS: readonly Workload[] = [probe];
