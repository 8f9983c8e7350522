import type { Kind } from '#nestjs';
import type { Provider, Type } from '@nestjs/common';
import type { z } from 'zod';
import type { Reconciler } from './reconciler.js';
import { Workload } from './workload.js';

export type Process = 'api' | 'worker' | 'janitor';

type Variables = z.ZodRawShape;
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- a workload may have no variables of its own
type None = Record<never, z.ZodType>;
type Settings<V extends Variables> = z.output<z.ZodObject<V>>;

/** What a workload adds to a process. */
export interface WorkloadParts {
  readonly providers?: readonly Provider[];
  readonly controllers?: readonly Type[];
  /** Controllers of pages to try it with. An api serves them if it serves demos. */
  readonly demos?: readonly Type[];
}

/** A reconciler that every janitor runs at this interval. */
export interface ReconcilerTask {
  /** The name of the task in logs and metrics, if it is not the workload's. */
  readonly name?: string;
  readonly everyMs: number;
  readonly reconciler: Type<Reconciler>;
}

/** A sweep that the janitors run at this interval. */
export interface SweepTask {
  readonly everyMs: number;
  /** Of a `Sweep` among the providers of janitors. */
  readonly kind: string;
}

/** The settings of each function have the types of the variables. */
export interface WorkloadOptions<
  All extends Variables = Variables,
  Api extends Variables = Variables,
  Worker extends Variables = Variables,
  Janitor extends Variables = Variables,
> {
  readonly name: string;
  readonly kinds: readonly Kind[];
  /** Describes the variable with the workload's name (`TRIPS`), which may be `off`. Without it the workload is always on. */
  readonly offers?: string;
  /** An api offers it by default only if it has no keys and listens on loopback. */
  readonly isForTrial?: true;
  /** Environment variables, by the processes that read them. */
  readonly variables?: {
    readonly all?: All;
    readonly api?: Api;
    readonly worker?: Worker;
    readonly janitor?: Janitor;
  };
  /** Queues in which fewer jobs may wait than in others. */
  maxWaitingIn?(settings: Settings<All>): Readonly<Record<string, number>>;
  /** Providers of every process. */
  readonly providers?: readonly Provider[];
  /** Import controllers inside it, with `import()`: a worker that loads HTTP code takes half as long again to start. */
  api?(settings: Settings<All & Api>): WorkloadParts | Promise<WorkloadParts>;
  worker?(settings: Settings<All & Worker>): WorkloadParts;
  janitor?(settings: Settings<All & Janitor>): WorkloadParts;
  readonly reconciled?: ReconcilerTask;
  swept?(settings: Settings<All & Janitor>): SweepTask;
}

/** Describes a workload once, for all processes. `libs/fleet/src/workloads.ts` lists the workloads of the fleet. */
export function defineWorkload<
  All extends Variables = None,
  Api extends Variables = None,
  Worker extends Variables = None,
  Janitor extends Variables = None,
>(options: WorkloadOptions<All, Api, Worker, Janitor>): Workload {
  return new Workload(options);
}
