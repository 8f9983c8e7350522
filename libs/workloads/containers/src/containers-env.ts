import { fields } from '#workload-kit';
import { z } from 'zod';

export const api = {
  LEASE_IMAGES: fields
    .words()
    .prefault('ubuntu,debian,alpine,busybox,node')
    .describe('Which images may be leased; one without a tag stands for all its tags.'),
  LEASE_MAX: fields.duration
    .prefault('24h')
    .describe('How long a lease may be asked for, or renewed, at a time.'),
  LEASE_LIMIT: fields
    .wholeNumber(1)
    .prefault('100')
    .describe('How many leases there may be at once, over the whole fleet; more are refused.'),
};

/** For processes that create or end containers. */
export const engine = {
  DOCKER_HOST: z
    .string()
    .regex(/^(unix|tcp|https?):\/\/./, 'expected unix:///path, tcp://host:port or https://host:port')
    .optional()
    .meta({ form: 'url' })
    .describe(
      'The Docker-compatible engine that runs leased containers. Unset: each is a plain process of this machine, for trying it. The same for workers and janitors.',
    ),
  LEASE_SECRET: z
    .string()
    .min(16, 'expected at least 16 characters')
    .optional()
    .describe(
      'What the fleet signs its containers with; it touches no others. Unset: one that is made once and kept in the store, with which it would be lost. The same for workers and janitors.',
    ),
  LEASE_FOLDER: z
    .string()
    .min(1)
    .default('.mooring/containers')
    .describe('Without `DOCKER_HOST`: where it is written down which processes are whose.'),
  LEASE_MEMORY_MB: fields
    .wholeNumber(16)
    .prefault('256')
    .describe('How much memory a leased container has, in MiB.'),
  LEASE_CPUS: z
    .string()
    .refine(
      (text) => /^\d+(\.\d+)?$/.test(text) && Number(text) > 0,
      'expected a number above zero, as in 0.5',
    )
    .transform(Number)
    .prefault('0.5')
    .meta({ form: 'number' })
    .describe('How many processors it has.'),
  LEASE_PIDS: fields.wholeNumber(1).prefault('64').describe('How many processes it may have.'),
};

export type EngineSettings = z.output<z.ZodObject<typeof engine>>;

export const janitor = {
  LEASE_REAP_EVERY: fields.duration
    .prefault('1m')
    .meta({ older: { name: 'CLEANUP_INTERVAL_MINUTES', unit: 'm' } })
    .describe(
      'How often leases and containers are compared. Also read from `CLEANUP_INTERVAL_MINUTES`, its older name.',
    ),
};
