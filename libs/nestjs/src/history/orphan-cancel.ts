/** The cancels of an orphan sweep have ids that begin so. */
export const ORPHAN_CANCEL = 'orphan-';
