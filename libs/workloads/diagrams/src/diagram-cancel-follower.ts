import { Journal } from '#nestjs';
import { OwnerCancelFollower, type OwnerCancel } from '#workload-kit';
import { Injectable, Optional } from '@nestjs/common';
import { OWNER_TYPE } from './diagram-kinds.js';
import { DiagramReconciler } from './diagram-reconciler.js';
import { DiagramRepository, epochAt } from './diagram-repository.js';

/**
 * Ends what a cancelled owner alone has requested. The owner is recorded first, so that other processes
 * finish the work if this one dies. A worker, which may hear of the cancel of a process that died, only records it.
 */
@Injectable()
export class DiagramCancelFollower extends OwnerCancelFollower {
  constructor(
    journal: Journal,
    private readonly diagrams: DiagramRepository,
    @Optional() private readonly reconciler?: DiagramReconciler,
  ) {
    super(journal, 'diagrams');
  }

  protected follow(cancel: OwnerCancel): void {
    const { owner, at } = cancel;
    if (owner.startsWith(`${OWNER_TYPE}:`)) return;
    const epoch = cancel.epoch || epochAt(at + 1);
    void this.retry(`What ${owner} asked for stays`, () => this.diagrams.noteGone(owner, epoch)).then(
      async (isNoted) => {
        if (!isNoted || this.isClosing) return;
        // After a failure the reconciler does the rest.
        await this.reconciler?.ownerGone(owner, epoch).catch((error) => this.reconciler?.logError(error));
      },
    );
  }
}
