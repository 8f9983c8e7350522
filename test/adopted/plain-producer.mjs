// A separate program that uses BullMQ without owners. It adds jobs of every kind, prints their ids and exits.
import { FlowProducer, Queue } from 'bullmq';

const [url, waiting = '1000'] = process.argv.slice(2);
const connection = { url };
const audio = new Queue('audio', { connection });
const mail = new Queue('mail', { connection });
const albums = new FlowProducer({ connection });

const USERS = 50;
const EVERY_MS = 250;
const transcodes = Array.from({ length: Number(waiting) }, (_, n) => ({
  name: 'transcode',
  data: { userId: `u${n % USERS}`, n },
}));

const jobs = [
  ...(await audio.addBulk(transcodes)),
  await audio.add('generateWaveform', { path: '/a' }, { jobId: 'waveform-of-a' }),
  await audio.add('urgent', { userId: 'u1' }, { priority: 10 }),
  await audio.add('later', { userId: 'u1' }, { delay: 300 }),
  await mail.add('sendWelcome', 'a text, not an object'),
];
const { job: parent } = await albums.add({
  name: 'albumIsReady',
  queueName: 'mail',
  data: { userId: 'u2' },
  children: [1, 2, 3].map((track) => ({
    name: 'child',
    queueName: 'audio',
    data: { userId: 'u2', track },
    opts: { failParentOnFailure: true },
  })),
});
await mail.upsertJobScheduler('digest', { every: EVERY_MS }, { name: 'digest', data: { kind: 'daily' } });
await audio.upsertJobScheduler('peaks-of-u3', { every: EVERY_MS }, { name: 'peaks', data: { userId: 'u3' } });

console.log(JSON.stringify([...jobs, parent].map((job) => `${job.queueName}:${job.id}`)));
await Promise.all([audio.close(), mail.close(), albums.close()]);
