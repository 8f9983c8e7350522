import { Owners } from '#core';
import { defineKind, Enqueuer } from '#nestjs';
import { Injectable } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { MooringRecorder } from './recorder.js';

const thumbnail = defineKind({
  name: 'photo.thumbnail',
  queue: 'photos',
  payload: z.object({ photoId: z.string() }),
  owners: ({ photoId }) => [`photo:${photoId}`],
});

@Injectable()
class Uploads {
  constructor(
    private readonly enqueuer: Enqueuer,
    private readonly owners: Owners,
  ) {}

  async upload(photoId: string): Promise<string> {
    return (await this.enqueuer.enqueue(thumbnail, { photoId }, { delay: '1m' })).id;
  }

  async remove(photoId: string): Promise<number> {
    return (await this.owners.cancel(`photo:${photoId}`, { reason: 'deleted' })).removed;
  }
}

describe('a recorder in the place of Enqueuer and Owners', () => {
  let recorder: MooringRecorder;
  let uploads: Uploads;

  beforeEach(async () => {
    recorder = new MooringRecorder();
    const module = await Test.createTestingModule({
      providers: [Uploads, ...recorder.providers()],
    }).compile();
    uploads = module.get(Uploads);
  });

  it('keeps what was enqueued', async () => {
    const id = await uploads.upload('7');
    expect(recorder.jobsOf(thumbnail)).toEqual([
      {
        id,
        kind: 'photo.thumbnail',
        payload: { photoId: '7' },
        owners: ['photo:7'],
        options: { delay: '1m' },
      },
    ]);
  });

  it('refuses a payload that the kind refuses', async () => {
    await expect(uploads.upload(7 as never)).rejects.toMatchObject({ code: 'INVALID' });
    expect(recorder.jobs).toEqual([]);
  });

  it('keeps cancels, and refuses jobs of a closed owner until it is reopened', async () => {
    await uploads.upload('7');
    expect(await uploads.remove('7')).toBe(1);
    expect(recorder.cancels).toEqual([{ owner: 'photo:7', options: { reason: 'deleted' } }]);
    await expect(uploads.upload('7')).rejects.toMatchObject({ code: 'OWNER_CLOSED' });
    await recorder.owners.reopen('photo:7');
    await expect(uploads.upload('7')).resolves.toMatch(/^photos-/);
  });

  it('answers for each of many', async () => {
    const items = [{ photoId: '1' }, { photoId: 2 }].map((payload) => ({
      kind: thumbnail,
      payload: payload as never,
    }));
    const answers = await recorder.enqueuer.enqueueAll(items);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  });
});
