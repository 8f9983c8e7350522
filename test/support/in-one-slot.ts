/** The prefix of a test's keys; on a Cluster in the form that keeps them in one slot. */
export function inOneSlot(prefix: string): string {
  return process.env['TEST_CLUSTER'] ? `{${prefix}}` : prefix;
}
