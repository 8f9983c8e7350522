import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { isGone } from './is-gone.js';

/** All processes that a process started, directly or indirectly. */
export function processesBelow(pid: number): number[] {
  const parents = new Map(pids().map((each) => [each, parentOf(each)]));
  const below = (above: number): number[] =>
    [...parents].filter(([, parent]) => parent === above).flatMap(([each]) => [each, ...below(each)]);
  return below(pid);
}

/** The processes that draw; others sanitize the result. */
export function drawersBelow(pid: number): number[] {
  return processesBelow(pid).filter((each) => /renderer\.process\.js.*(draw|browse)/s.test(commandOf(each)));
}

export function memoryBelow(pid: number): number {
  return processesBelow(pid).reduce((sum, each) => sum + memoryOf(each), 0);
}

/** Whether a process of the group still runs; one that has ended may be in it until it is collected. */
export function groupIsThere(group: number): boolean {
  return pids().some((pid) => Number(statOf(pid)?.[2]) === group && !isGone(pid));
}

/** The CPU time of a process. */
export function secondsOf(pid: number): number {
  const [, , , , , , , , , , , user, system] = statOf(pid) ?? [];
  return (Number(user) + Number(system)) / 100;
}

/** The working folders of the processes that draw for a worker. */
export function foldersOf(worker: number): string[] {
  return readdirSync(tmpdir()).filter(
    (name) => /^mooring-render-\w+-(\d+)-/.exec(name)?.[1] === String(worker),
  );
}

function pids(): number[] {
  return readdirSync('/proc').map(Number).filter(Boolean);
}

function parentOf(pid: number): number | undefined {
  const [, parent] = statOf(pid) ?? [];
  return parent === undefined ? undefined : Number(parent);
}

/** The fields from the state on: the name before them may contain anything. */
function statOf(pid: number): string[] | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
}

/** The private memory of a process, in MB. */
function memoryOf(pid: number): number {
  try {
    const [, resident, shared] = readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ').map(Number);
    return ((resident! - shared!) * 4_096) / 1e6;
  } catch {
    return 0;
  }
}

function commandOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return '';
  }
}
