import { isUnfinished, type CoreState, type StoredJob } from './core-state.js';

/**
 * What must hold at any time, between any two commands of any process. Each fault begins with the name of its
 * invariant.
 */
export function faultsOf(state: CoreState): string[] {
  return [
    ...jobsWithoutPlace(state),
    ...placesWithoutJob(state),
    ...jobsMissingFromIndex(state),
    ...entriesWithoutJob(state),
    ...wrongPendingJobs(state),
    ...wrongRecords(state),
    ...wrongSlots(state),
    ...wrongLines(state),
    ...wrongCancels(state),
    ...wrongReceipts(state),
  ].toSorted();
}

function jobsWithoutPlace({ jobs }: CoreState): string[] {
  return [...jobs]
    .filter(([, { place }]) => place === 'nowhere')
    .map(([ref]) => `place: ${ref} is in no list`);
}

function placesWithoutJob({ ghosts }: CoreState): string[] {
  return [...ghosts].map(([ref, place]) => `place: ${place} has ${ref}, which is gone`);
}

function jobsMissingFromIndex({ jobs, owners }: CoreState): string[] {
  return [...jobs].flatMap(([ref, job]) =>
    !job.mark || !isUnfinished(job)
      ? []
      : job.mark.owners
          .filter(({ name, epoch }) => ![epoch, '0'].includes(owners.get(name)?.jobs.get(ref) ?? ''))
          .map(({ name }) => `index: ${ref}, ${job.place}, is not in the index of ${name}`),
  );
}

function entriesWithoutJob({ jobs, owners }: CoreState): string[] {
  return [...owners].flatMap(([name, owner]) =>
    [...owner.jobs.keys()]
      .filter((ref) => {
        const job = jobs.get(ref);
        return !job || !isUnfinished(job) || !job.mark?.owners.some((each) => each.name === name);
      })
      .map((ref) => `index: ${name} has ${ref}, which is ${jobs.get(ref)?.place ?? 'gone'}`),
  );
}

function wrongPendingJobs(state: CoreState): string[] {
  const { jobs, pending } = state;
  const faults = [...pending].flatMap(([key, ref]) => {
    const job = jobs.get(ref);
    if (!job) return [`pending: ${key} names ${ref}, which is gone`];
    if (!isUnfinished(job) || job.place === 'active')
      return [`pending: ${key} names ${ref}, which is ${job.place}`];
    return keyOf(job) === key ? [] : [`pending: ${key} names ${ref}, a job of ${keyOf(job)}`];
  });
  return [
    ...faults,
    ...moreThanOne(state, 'pending', isPending),
    ...moreThanOne(state, 'running', isRunning),
  ];
}

function moreThanOne(
  state: CoreState,
  what: string,
  counts: (job: StoredJob, state: CoreState) => boolean,
): string[] {
  const byKey = new Map<string, string[]>();
  for (const [ref, job] of state.jobs) {
    const key = keyOf(job);
    if (key && counts(job, state)) byKey.set(key, [...(byKey.get(key) ?? []), ref]);
  }
  return [...byKey]
    .filter(([, refs]) => refs.length > 1)
    .map(([key, refs]) => `duplicates: ${key} has ${refs.length} ${what} jobs: ${refs.join(' ')}`);
}

function isPending(job: StoredJob, { owners }: CoreState): boolean {
  const isCurrent = job.mark!.owners.every(({ name, epoch }) => owners.get(name)?.epoch === epoch);
  return isCurrent && isUnfinished(job) && job.place !== 'active' && job.begun === 0;
}

function isRunning({ place, isLocked }: StoredJob): boolean {
  return place === 'active' && isLocked;
}

/** A record exists for jobs, for a state, or for a cancel with an unfinished clean-up. */
function wrongRecords({ owners, directory, pending }: CoreState): string[] {
  const faults: string[] = [];
  for (const [name, { jobs, state, cancel, expires }] of owners) {
    const isEmpty = jobs.size === 0 && cancel === undefined;
    if (isEmpty && state === undefined) faults.push(`record: ${name} has nothing to remember`);
    if (isEmpty && !expires) faults.push(`record: ${name} has no jobs and stays for ever`);
    if (!isEmpty && expires) faults.push(`record: ${name} has jobs and expires`);
    if (!directory.has(name)) faults.push(`record: ${name} is not in the directory`);
  }
  for (const name of directory) if (!owners.has(name)) faults.push(`record: the directory has ${name} alone`);
  for (const key of pending.keys()) {
    if (!owners.has(key.slice(0, key.lastIndexOf('|'))))
      faults.push(`record: ${key} is pending without a record`);
  }
  return faults;
}

function wrongSlots(state: CoreState): string[] {
  const faults: string[] = [];
  const inLine = new Set([...state.lines.values()].flat());
  for (const [key, refs] of state.holders) {
    const limit = limitOf(state, key);
    if (refs.length > limit) faults.push(`slots: ${key} has ${refs.length} holders, its limit is ${limit}`);
    for (const ref of refs) {
      if (state.jobs.get(ref)?.place === 'delayed' && !inLine.has(ref))
        faults.push(`slots: ${ref} holds ${key} and sleeps`);
      if (!slotsOf(state.jobs.get(ref)).includes(key))
        faults.push(`slots: ${ref} holds ${key} and does not need it`);
    }
  }
  for (const [ref, job] of state.jobs) {
    if (!isRunning(job)) continue;
    const missing = slotsOf(job).filter((key) => !state.holders.get(key)?.includes(ref));
    faults.push(...missing.map((key) => `slots: ${ref} runs without ${key}`));
  }
  return faults;
}

/** If a job waits, its slot is taken, or its token will come: no job waits for a free slot. */
function wrongLines(state: CoreState): string[] {
  const faults: string[] = [];
  for (const key of state.due) if (!state.lines.has(key)) faults.push(`line: a token of ${key} is for none`);
  for (const [key, refs] of state.lines) {
    const isDue = state.due.has(key) || comes(state, key, refs[0]!);
    if ((state.holders.get(key)?.length ?? 0) < limitOf(state, key) && !isDue) {
      faults.push(`line: ${refs.join(' ')} wait for ${key}, which is free`);
    }
    for (const ref of refs) {
      if (!slotsOf(state.jobs.get(ref)).includes(key))
        faults.push(`line: ${ref} waits for ${key} and does not need it`);
    }
  }
  return faults;
}

/** The first in line for a slot with a rate stays there until it takes its token. */
function comes({ jobs, rates }: CoreState, key: string, first: string): boolean {
  return rates.has(key) && jobs.get(first)?.place !== 'delayed';
}

function wrongCancels({ cancels, receipts, owners }: CoreState): string[] {
  const unknown = cancels.filter((cancelId) => !receipts.has(cancelId));
  const open = [...owners].filter(([, { cancel }]) => cancel !== undefined && !cancels.includes(cancel));
  return [
    ...unknown.map((cancelId) => `cancel: ${cancelId} is open without a receipt`),
    ...open.map(([name, { cancel }]) => `cancel: ${name} has ${cancel}, which is over`),
  ];
}

function wrongReceipts({ receipts }: CoreState): string[] {
  return [...receipts].flatMap(([cancelId, fields]) => {
    const total = (what: string) =>
      [...fields].reduce(
        (sum, [name, count]) => (name.startsWith(`${what}:`) ? sum + Number(count) : sum),
        0,
      );
    const [ended, told] = [total('acknowledged'), total('aborted')];
    return ended > told ? [`receipt: ${cancelId} says that ${ended} of ${told} runs have ended`] : [];
  });
}

/** `<owner>|<digest>`, or undefined for a job without a deduplication key. */
function keyOf({ mark }: StoredJob): string | undefined {
  return mark?.key ? `${mark.owners[0]!.name}|${mark.key}` : undefined;
}

/** The slots that a job needs until it ends. */
function slotsOf(job: StoredJob | undefined): string[] {
  if (!job || !isUnfinished(job)) return [];
  return [keyOf(job), job.mark?.slot || undefined].filter((key) => key !== undefined);
}

/** A deduplication key lets one job run at a time. */
function limitOf({ limits }: CoreState, key: string): number {
  return key.includes('|') ? 1 : (limits.get(key) ?? Infinity);
}
