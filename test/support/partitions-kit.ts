import {
  MooredFlowProducer,
  MooredQueue,
  MooredWorker,
  Owners,
  partitionPrefixes,
  Slots,
  type OwnersOptions,
} from '#partitions';
import { CoreKit } from './core-kit.js';

const PARTITIONED = { MooredFlowProducer, MooredQueue, MooredWorker, Owners, Slots };

/** The kit of the core with the classes of @mooring/partitions, on three partitions. */
export class PartitionsKit extends CoreKit {
  static readonly PARTITIONS = 3;

  constructor(options: Partial<OwnersOptions> = {}) {
    super(undefined, options);
  }

  protected override get classes(): typeof PARTITIONED {
    return PARTITIONED;
  }

  override get place(): CoreKit['place'] & { partitions: number } {
    return { ...super.place, partitions: PartitionsKit.PARTITIONS };
  }

  override get roots(): string[] {
    return partitionPrefixes(this.place);
  }
}
