import { createHash } from 'node:crypto';
import type { AccessLimits } from '../access/access-limits.js';
import type { BriefJob } from '../find/listed-job.js';
import type { Structure } from '../find/queue-source.js';
import { largestOf, type JobGroup } from './job-groups.js';

export const OPERATION_ACTIONS = ['retry', 'cancel', 'remove'] as const;
export type OperationAction = (typeof OPERATION_ACTIONS)[number];

/** States of jobs that an operation may name. */
export const OPERATION_STATES = ['waiting', 'delayed', 'retrying', 'running', 'completed', 'failed'] as const;
export type WalkedState = (typeof OPERATION_STATES)[number];

/** Which jobs an operation is about: those for which all of it is true. */
export interface OperationFilter {
  readonly queue?: string;
  readonly kind?: string;
  readonly state?: WalkedState;
  /** One of the job's owners, as in `trip:42`. */
  readonly owner?: string;
  /** A part of the text of its failure. */
  readonly error?: string;
  /** It ended before this time, ISO 8601; a job that has not ended was accepted before. */
  readonly before?: string;
}

export interface OperationOrder {
  readonly action: OperationAction;
  readonly filter: OperationFilter;
  /** Changes nothing: only counts and samples. */
  readonly dryRun?: boolean;
  /** Who asked for it. */
  readonly by: string;
  /** What its caller is limited to. Other jobs are not looked for. */
  readonly limitedTo?: AccessLimits | undefined;
}

/**
 * `asked`: a janitor will begin it. `stopping`: it was stopped, and ends after the page that it is at. `failed`: it met an error that
 * was not the store's absence.
 */
export const OPERATION_RUN_STATES = ['asked', 'running', 'stopping', 'stopped', 'done', 'failed'] as const;
export type OperationState = (typeof OPERATION_RUN_STATES)[number];

/** A job that the operation did not change, and why. */
export interface Problem {
  readonly id: string;
  readonly outcome: 'refused' | 'failed';
  readonly code: string;
  readonly why: string;
}

/** An operation as callers see it. */
export interface OperationView extends OperationOrder {
  readonly dryRun: boolean;
  readonly operationId: string;
  readonly state: OperationState;
  /** How many jobs it has looked at. */
  readonly seen: number;
  readonly matched: number;
  readonly done: number;
  /** Jobs that it could not change, because of an error. */
  readonly failed: number;
  /** Jobs that must not be changed: of a closed owner, for instance. */
  readonly refused: number;
  /** Jobs that were no longer as the filter says when their turn came. */
  readonly skipped: number;
  /** Some of the jobs that matched first. */
  readonly samples: readonly BriefJob[];
  /** Of a dry run: how many of each kind failed with each error, the largest groups first. */
  readonly groups?: readonly JobGroup[];
  /** The first of those that were refused or failed. */
  readonly problems: readonly Problem[];
  readonly startedAt: string;
  readonly endedAt?: string;
  readonly why?: string;
}

/** A job that matched and whose turn has not ended. */
export interface PendingJob {
  readonly id: string;
  readonly queue: string;
  /** Where it was found. */
  readonly set: Structure | 'owner';
  /** Of an ended job the time of its end, ms. */
  readonly at: number;
}

/** As it is stored: its view, and where it is. A page is stored as pending before its first job is changed. */
export interface OperationRecord extends OperationView {
  readonly position?: string | undefined;
  readonly pending: readonly PendingJob[];
  /** All its jobs were looked at. */
  readonly isSeen: boolean;
}

/** Of the cancel of a job by an operation. */
export function cancelIdOf(operationId: string, queue: string, id: string): string {
  return `${operationId}-${createHash('sha256').update(`${queue}:${id}`).digest('hex').slice(0, 20)}`;
}

export function isOver({ state }: Pick<OperationView, 'state'>): boolean {
  return state === 'done' || state === 'stopped' || state === 'failed';
}

export function viewOf(record: OperationRecord): OperationView {
  const { position: _, pending: __, isSeen: ___, groups, ...view } = record;
  return groups ? { ...view, groups: largestOf(groups) } : view;
}
