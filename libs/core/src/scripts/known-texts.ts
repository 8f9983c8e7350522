import type { BullScript } from './bullmq-texts.js';

/** The releases of BullMQ whose composed texts are known. */
const KNOWN_RELEASES = '6.3.5 to 6.7.0';

/**
 * The texts of BullMQ that are composed, by their SHA-1. What stands in `bull-keys.lua` and `extra-arguments.ts` is true for these. A
 * release with another text is refused until its change has been read.
 */
const KNOWN_TEXTS: Readonly<Record<string, readonly string[]>> = {
  addDelayedJob: [
    '604e0a2321f7142a82189d1b3259a35b67ce0b0a',
    'f5012d7265b73be685a2a3569f5912de610fd355',
    'ef55a5770d2c32d68b8528f29ced32261188aa30',
    '825fa56cca22ec01221c678f2aa610da6dc38610',
    '81698fd2d28e7db1787595b3c464b188fa78bdcf',
  ],
  addJobScheduler: ['373dd5ff5b300deb3d6cd7e867c4b68023871d82'],
  addParentJob: [
    '9cd737a3b514b4f09b93ba5044bcd63269d0607c',
    'feb9d8d67e727090be62f48cca03ee16a43f4586',
    'ec2e6289ba76f455c6e824ba4d6e92df2a5aaa97',
    'eaec2bf999eb280c6bd0e77a158faf01d265e926',
  ],
  addPrioritizedJob: [
    '411a6d03c2e634c2b4e353664075da0125bc3846',
    'f8e172e52de52301a7bf0a775a07f86adc47f9fd',
    '7fe9ddf6854813edeaaa9b83839ac94693b1de8f',
    'c55fc7559d55d176ad12465dd13bc186e37f3d01',
    '299880da0f75f0b376ee8e87d20eae62f964ac5e',
  ],
  addStandardJob: [
    'd961aae0df158b3c2887dd8eb7c285294be16d24',
    'a2746c9c49a80628d790a3fea39ee283270f25bc',
    '10f8d228e89ed4f765afc5b3bafb6defbb84e311',
    '8fb5163d74bbb5a726c1d3a7db4d7e4a37be3eb3',
    '5ab432e88830d573e2fa33392ffbd4ad25a9b100',
  ],
  changeDelay: ['de220c4e0e17e976d762e5c2aa0b5015ea32cb50'],
  changePriority: ['35fbc2569911c2b95dd1f91d11f517607623ca02'],
  cleanJobsInSet: ['d4b4530a1de226c532b5256e3dafa5cdc1641a6a'],
  drain: ['2e3d2277043ce9692d0dd5e509ddb1ce487a617f'],
  extendLocks: ['c35baf769e5dc3d9194b2bceca04ab59f7c510f7'],
  moveJobFromActiveToWait: ['2f746a769bc3d182a0f73ace6bb7a4906faf5df9'],
  moveJobsToWait: ['9dc8f3f21258be00737ade03850a4fcca1d65b9b', 'bc8c0fb293881a6f07cd03407410bf7bcbc818e4'],
  moveToActive: ['d96ca626f1ea141b44a856b312fc636d99aa9ea9'],
  moveToDelayed: ['9f83944d6edafd63c74121d73299dd3358ddfe0c'],
  moveToFinished: ['69666e69dd5621df59067a03de685e55a486560d'],
  moveToWaitingChildren: ['bbb6163481b4e25994b9f80db2d210c99d15e12b'],
  obliterate: ['b5e55563e8084314227a6512b49bbe089f31c6a1'],
  promote: ['1d740f19fe984343737df70206877be7cbab6913'],
  releaseParentIfNoPendingDependencies: ['83e68e2628933191fc09966810bd07490bf44ab4'],
  removeJob: ['574af105e7df948fdf7e5410f3190a87f037d7f3'],
  removeJobScheduler: ['b68502558f85f3bf9c5d6b25b1b44e2fcc5d4c92'],
  removeUnprocessedChildren: ['6c2bf9284f8f23d9debfbeb5fa7cce8270679d6c'],
  reprocessJob: ['8162486b66fee4608fec8f9c290703704b58e212', '1323ff649a78371c602a52252e61dc9f2fdfe36d'],
  retryJob: ['812d06de3eaf0fb70e333b3d0142eed8bf630a2d'],
  updateJobScheduler: ['4da21b4a6efa92d4c0bdfc40e803ecc1e9ab4eb5'],
};

/** BullMQ has changed a script that is composed: what the composed one would do is unknown. */
export class UnknownBullMQError extends Error {
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
    if (!script || !KNOWN_TEXTS[name]?.includes(script.digest)) throw new UnknownBullMQError(name, release);
  }
}

/** Scripts that older known releases do without. */
export const OPTIONAL: ReadonlySet<string> = new Set(['releaseParentIfNoPendingDependencies']);
