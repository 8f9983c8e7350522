import { defineWorkload } from '#workload-kit';
import { ProbeHandler } from './probe.handler.js';
import { probe as kind } from './probe.kinds.js';
import { ProbeProcessor } from './probe.processor.js';

/** Jobs without use, to try the fleet and for tests. */
export const probe = defineWorkload({
  name: 'probe',
  kinds: [kind],
  offers: 'Whether the `probe` kind is offered.',
  isForTrial: true,
  worker: () => ({ providers: [ProbeHandler, ProbeProcessor] }),
});
