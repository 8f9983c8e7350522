import { DurationMs } from '#workload-kit/api';
import { z } from 'zod';
import { LEASE_STATES, LeaseAnswer } from '../lease.js';

export const LeaseBody = z
  .strictObject({
    image: z.string().min(1).max(500).describe('One of those that may be leased, with or without a tag.'),
    duration: DurationMs.describe('How long it is held, counted from this call.'),
    owner: z
      .string()
      .max(600)
      .optional()
      .describe('As in `trip:42`: when that is cancelled, the lease ends with it.'),
  })
  .meta({ id: 'AskForLease' });
export type LeaseBody = z.output<typeof LeaseBody>;

export const RenewBody = z
  .strictObject({ duration: DurationMs.describe('How long from now; never less than it is held already.') })
  .meta({ id: 'RenewLease' });
export type RenewBody = z.output<typeof RenewBody>;

export const CleanUpBody = z
  .strictObject({
    release: z
      .boolean()
      .optional()
      .describe('Its engine is gone for good, and its container with it: free its place without looking.'),
  })
  .nullish()
  .meta({ id: 'CleanUpLease' });
export type CleanUpBody = z.output<typeof CleanUpBody>;

export const State = z.enum(LEASE_STATES).optional();

export const LeasesAnswer = z
  .object({
    leases: z.array(LeaseAnswer).describe('The newest first.'),
    cursor: z.string().nullable().describe('Where the next page begins; null on the last one.'),
  })
  .meta({ id: 'Leases' });
