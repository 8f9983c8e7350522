import type { Process, ReconcilerTask, SweepTask } from '#workload-kit';
import type { DynamicModule } from '@nestjs/common';
import { WORKLOADS } from './workloads.js';

/** The conditions in which an api starts. */
export interface ApiConditions {
  /** False if it has keys or listens beyond loopback. */
  readonly isTrial: boolean;
  readonly hasDemos: boolean;
}

/** The environment variables of all workloads. Their types are known to the workloads only. */
export function workloadVariables(process: Process): object {
  return Object.assign({}, ...WORKLOADS.map((each) => each.variablesOf(process))) as object;
}

/** The modules of the workloads that are on, in their order: Nest would add modules that it has to wait for as they come. */
export async function workloadModules(
  process: Process,
  settings: object,
  { isTrial, hasDemos }: ApiConditions = { isTrial: true, hasDemos: false },
): Promise<DynamicModule[]> {
  const on = WORKLOADS.filter((each) => each.isOn(settings, isTrial));
  return Promise.all(on.map((each) => each.moduleFor(process, settings, hasDemos)));
}

/** The limits of queues in which fewer jobs may wait than in others. */
export function workloadLimits(settings: object): Record<string, number> {
  return Object.assign({}, ...WORKLOADS.map((each) => each.maxWaitingIn(settings))) as Record<string, number>;
}

/** What the janitors do for the workloads that are on. */
export abstract class JanitorTasks {
  abstract readonly reconcilers: readonly (ReconcilerTask & { readonly name: string })[];
  abstract readonly sweeps: readonly SweepTask[];
}

export function janitorTasks(settings: object): JanitorTasks {
  const on = WORKLOADS.filter((each) => each.isOn(settings));
  return {
    reconcilers: on.flatMap(({ name, reconciled }) => (reconciled ? [{ name, ...reconciled }] : [])),
    sweeps: on.flatMap((each) => each.sweptIn(settings) ?? []),
  };
}
