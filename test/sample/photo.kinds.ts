import { defineKind } from '#nestjs';
import { z } from 'zod';

export const thumbnail = defineKind({
  name: 'photo.thumbnail',
  queue: 'photos',
  payload: z.object({ photoId: z.string(), width: z.number().int().default(100) }),
  attempts: 3,
  dedup: { strategy: 'skip' },
});

export const forget = defineKind({
  name: 'photo.forget',
  queue: 'chores',
  payload: z.object({ photoId: z.string() }),
  checkOwner: 'start',
});
