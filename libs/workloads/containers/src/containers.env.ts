import { z } from 'zod';

/** Environment of a process that creates or ends containers. */
export const ContainersEnv = {
  CONTAINERS: z
    .enum(['on', 'off'])
    .default('on')
    .describe('Whether containers are leased; see `docs/workloads/containers.md`. The same for all.'),
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
  LEASE_MEMORY_MB: number(16).prefault('256').describe('How much memory a leased container has, in MiB.'),
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
  LEASE_PIDS: number(1).prefault('64').describe('How many processes it may have.'),
};

export type ContainersEnv = z.output<z.ZodObject<typeof ContainersEnv>>;

function number(min: number): z.ZodType<number, string> {
  return z
    .string()
    .refine(
      (text) => /^\d{1,9}$/.test(text) && Number(text) >= min,
      `expected a whole number of at least ${min}`,
    )
    .transform(Number)
    .meta({ form: 'number' });
}
