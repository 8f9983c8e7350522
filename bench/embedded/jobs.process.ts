import { Worker } from 'bullmq';

/*
 * A worker of no-op jobs in a process of its own: `node jobs.process.js <store url> <queue> <concurrency> <lock ms>`.
 * Says 'ready', and takes its first job at 'go'. Ends with its parent.
 */
const [url, queue, concurrency, lockDuration] = process.argv.slice(2) as [string, string, string, string];

const worker = new Worker(queue, () => Promise.resolve(), {
  connection: { url, maxRetriesPerRequest: null },
  autorun: false,
  concurrency: Number(concurrency),
  lockDuration: Number(lockDuration),
  stalledInterval: 1_000,
  maxStalledCount: 5,
});
worker.on('error', () => {});

await worker.waitUntilReady();
process.once('message', () => void worker.run());
process.once('disconnect', () => process.exit(0));
process.send?.('ready');
