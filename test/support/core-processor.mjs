/** A sandboxed processor, as BullMQ runs it. */
export default async function process(job) {
  return job.data.n + 1;
}
