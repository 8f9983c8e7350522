import { z } from 'zod';
import type { Container } from '../container-engine.js';

const Labels = z.record(z.string(), z.string()).nullish();

/** A container, and whether it was ever started. */
export interface Inspected {
  readonly container: Container;
  readonly isUnstarted: boolean;
}

export const InspectAnswer = z
  .object({
    Id: z.string(),
    Name: z.string(),
    Created: z.iso.datetime({ offset: true }),
    State: z.object({ Running: z.boolean(), Status: z.string() }),
    Config: z.object({ Labels }),
  })
  .transform(({ Id, Name, Created, State, Config }): Inspected => ({
    container: {
      id: Id,
      name: plain(Name),
      labels: Config.Labels ?? {},
      createdAt: wholeSeconds(Date.parse(Created)),
      running: State.Running,
    },
    // Docker's state, and Podman's older ones.
    isUnstarted: ['created', 'configured', 'initialized'].includes(State.Status),
  }));

export const ListAnswer = z.array(
  z
    .object({
      Id: z.string(),
      Names: z.array(z.string()).min(1),
      Created: z.int(),
      State: z.string(),
      Labels,
    })
    .transform((listed): Container => ({
      id: listed.Id,
      name: plain(listed.Names[0]!),
      labels: listed.Labels ?? {},
      createdAt: listed.Created * 1_000,
      running: listed.State === 'running',
    })),
);

/** A list has whole seconds only, and both calls must return the same time. */
function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function plain(name: string): string {
  return name.replace(/^\//, '');
}
