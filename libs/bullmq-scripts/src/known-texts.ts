import type { BullScript } from './texts.js';

/** The releases of BullMQ whose composed texts are known. */
const KNOWN_RELEASES = '6.3.5 to 6.7.0';

/**
 * The texts of BullMQ that are composed: the digests that each has in the known releases. What their callers know of their
 * keys and arguments is true for these. A release with another text is refused until its change has been read.
 */
export const KNOWN_TEXTS: Readonly<Record<string, string>> = {
  addDelayedJob: '604e0a2321f7 f5012d7265b7 ef55a5770d2c 825fa56cca22 81698fd2d28e',
  addJobScheduler: '373dd5ff5b30',
  addParentJob: '9cd737a3b514 feb9d8d67e72 ec2e6289ba76 eaec2bf999eb',
  addPrioritizedJob: '411a6d03c2e6 f8e172e52de5 7fe9ddf68548 c55fc7559d55 299880da0f75',
  addStandardJob: 'd961aae0df15 a2746c9c49a8 10f8d228e89e 8fb5163d74bb 5ab432e88830',
  changeDelay: 'de220c4e0e17',
  cleanJobsInSet: 'd4b4530a1de2',
  drain: '2e3d2277043c',
  extendLocks: 'c35baf769e5d',
  moveJobFromActiveToWait: '2f746a769bc3',
  moveJobsToWait: '9dc8f3f21258 bc8c0fb29388',
  moveToActive: 'd96ca626f1ea',
  moveToDelayed: '9f83944d6eda',
  moveToFinished: '69666e69dd56',
  moveToWaitingChildren: 'bbb6163481b4',
  obliterate: 'b5e55563e808',
  promote: '1d740f19fe98',
  releaseParentIfNoPendingDependencies: '83e68e262893',
  removeJob: '574af105e7df',
  removeJobScheduler: 'b68502558f85',
  removeUnprocessedChildren: '6c2bf9284f8f',
  reprocessJob: '8162486b66fe 1323ff649a78',
  retryJob: '812d06de3eaf',
  updateJobScheduler: '4da21b4a6efa',
};

/** Scripts that older known releases do without. */
const OPTIONAL: ReadonlySet<string> = new Set(['releaseParentIfNoPendingDependencies']);

/** BullMQ has changed a script that is composed: what the composed one would do is unknown. */
class UnknownBullMQError extends Error {
  readonly code = 'UNKNOWN_BULLMQ';

  constructor(script: string, release: string) {
    super(
      `BullMQ ${release} has a script "${script}" that Mooring does not know. Known are the releases ${KNOWN_RELEASES}: ` +
        'install one of them, or a newer Mooring.',
    );
    this.name = 'UnknownBullMQError';
  }
}

/** Refuses a BullMQ with an unknown text among those that are composed. */
export function checkTexts(
  names: Iterable<string>,
  bull: ReadonlyMap<string, BullScript>,
  release: string,
): void {
  for (const name of names) {
    const script = bull.get(name);
    if (!script && OPTIONAL.has(name)) continue;
    if (!script || !KNOWN_TEXTS[name]?.split(' ').includes(script.digest))
      throw new UnknownBullMQError(name, release);
  }
}
