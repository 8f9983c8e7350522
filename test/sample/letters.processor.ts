import { Processor, WorkerHost } from '@nestjs/bullmq';
import { Inject } from '@nestjs/common';
import type { Job } from 'bullmq';
import { Album } from './album.js';

/** A queue that the application had before, processed as before. */
@Processor('letters')
export class LettersProcessor extends WorkerHost {
  constructor(@Inject(Album) private readonly album: Album) {
    super();
  }

  async process({ data }: Job<{ to: string }>): Promise<string> {
    this.album.letters.push(data.to);
    return 'sent';
  }
}
