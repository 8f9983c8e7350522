import { InjectFlowProducer, InjectQueue } from '@nestjs/bullmq';
import { Injectable } from '@nestjs/common';
import type { FlowProducer, Job, JobNode, Queue } from 'bullmq';
import type { AudioData } from './audio.processor.js';

/** The producers inside the application. */
@Injectable()
export class Uploads {
  constructor(
    @InjectQueue('audio') readonly audio: Queue,
    @InjectQueue('mail') readonly mail: Queue,
    @InjectFlowProducer('albums') private readonly albums: FlowProducer,
  ) {}

  /** Names its owner: BullMQ's own queue stores the name among the options and ignores it. */
  transcode(userId: string, data: AudioData = {}): Promise<Job> {
    return this.audio.add('transcode', data, { owners: [`user:${userId}`] });
  }

  /** A flow of two queues, owned by its user as a whole. */
  album(userId: string, tracks: number): Promise<JobNode> {
    return this.albums.add({
      name: 'albumIsReady',
      queueName: 'mail',
      data: { tracks },
      opts: { owners: [`user:${userId}`] },
      children: Array.from({ length: tracks }, (_, track) => ({
        name: 'transcode',
        queueName: 'audio',
        data: { track },
      })),
    });
  }
}
