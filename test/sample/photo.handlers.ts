import {
  Handler,
  Handles,
  KindProcessor,
  OwnerResolver,
  ResolvesOwners,
  type OwnerLife,
  type Payload,
  type Run,
} from '#nestjs';
import { Processor } from '@nestjs/bullmq';
import { Inject, Injectable } from '@nestjs/common';
import { Album } from './album.js';
import { forget, thumbnail } from './photo.kinds.js';

@Injectable()
@Handles(thumbnail)
export class ThumbnailHandler extends Handler<typeof thumbnail> {
  constructor(@Inject(Album) private readonly album: Album) {
    super();
  }

  async handle({ photoId, width }: Payload<typeof thumbnail>, run: Run): Promise<{ file: string }> {
    const file = `${photoId}@${width}.png`;
    this.album.files.push(file);
    await run.progress(100);
    return { file };
  }
}

@Injectable()
@Handles(forget)
export class ForgetHandler extends Handler<typeof forget> {
  constructor(@Inject(Album) private readonly album: Album) {
    super();
  }

  async handle({ photoId }: Payload<typeof forget>): Promise<void> {
    this.album.files = this.album.files.filter((file) => !file.startsWith(`${photoId}@`));
  }
}

@Processor('photos')
export class PhotosProcessor extends KindProcessor {}

@Processor('chores')
export class ChoresProcessor extends KindProcessor {}

@Injectable()
@ResolvesOwners('user')
export class Users extends OwnerResolver {
  async resolve(ids: string[]): Promise<ReadonlyMap<string, OwnerLife>> {
    return new Map(ids.map((id) => [id, id === 'gone' ? 'gone' : 'alive']));
  }
}
