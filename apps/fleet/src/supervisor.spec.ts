import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { isAlive } from '#runtime';
import { until } from '../../../test/support/until.js';
import { Supervisor, type SupervisorEvents } from './supervisor.js';

const SCRIPTS = {
  stays: `
    process.on('SIGTERM', () => process.exit(0));
    process.send({ type: 'started', url: 'http://127.0.0.1:1' });
    setInterval(() => {}, 1e6);`,
  fails: `process.exitCode = 3;`,
  staysDeaf: `
    process.on('SIGTERM', () => console.log('heard'));
    process.send({ type: 'started', url: 'http://127.0.0.1:1' });
    setInterval(() => {}, 1e6);`,
  endsAfterStart: `process.send({ type: 'started' }, () => process.exit(7));`,
  endsBadly: `
    process.on('SIGTERM', () => process.exit(4));
    process.send({ type: 'started', url: 'http://127.0.0.1:1' });
    setInterval(() => {}, 1e6);`,
  startsBadly: `
    process.on('SIGTERM', () => process.exit(4));
    console.log('up');
    setInterval(() => {}, 1e6);`,
  talks: `
    process.stdout.write('one\\ntw');
    setTimeout(() => {
      process.stdout.write('o\\nlast');
      process.stderr.write(process.env.WORD + '\\n');
    }, 20);`,
};

describe('Supervisor', () => {
  let folder: string;
  let said: string[];
  let lines: string[];
  let supervisors: Supervisor[];

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'mooring-children-'));
    for (const [name, text] of Object.entries(SCRIPTS)) await writeFile(join(folder, `${name}.mjs`), text);
  });

  beforeEach(() => {
    said = [];
    lines = [];
    supervisors = [];
  });

  afterEach(async () => {
    await Promise.all(supervisors.map((each) => each.stop(0)));
  });

  afterAll(() => rm(folder, { recursive: true, force: true }));

  const supervise = (script: string): Supervisor => {
    const events: SupervisorEvents = {
      line: (name, line) => lines.push(`${name}: ${line}`),
      failedToStart: (name, how) => said.push(`${name} failed to start: ${how}`),
      died: (name, how, againInMs) => said.push(`${name} died of ${how}, again in ${againInMs}`),
    };
    const supervisor = new Supervisor('child', join(folder, `${script}.mjs`), { WORD: 'word' }, events);
    supervisors.push(supervisor);
    supervisor.start();
    return supervisor;
  };
  const started = async (script: string): Promise<Supervisor> => {
    const supervisor = supervise(script);
    await until(() => supervisor.address, 'it has started');
    return supervisor;
  };

  it('knows the address of its child once the child has reported it', async () => {
    const supervisor = supervise('stays');
    expect(supervisor.address).toBeUndefined();
    expect(await until(() => supervisor.address, 'it has started')).toBe('http://127.0.0.1:1');
    expect(isAlive(supervisor.pid!)).toBe(true);
  });

  it('passes on the output of its child line by line, including an unterminated last line', async () => {
    supervise('talks');
    await until(() => said.length > 0 && lines.length === 4, 'it has said all');
    expect(lines.toSorted()).toEqual(['child: last', 'child: one', 'child: two', 'child: word']);
  });

  it.each([
    ['fails', 3],
    ['missing', 1],
  ])('does not restart a child that never started: %s', async (script, code) => {
    const supervisor = supervise(script);
    await until(() => said.length > 0, 'it has ended');
    expect(said).toEqual([`child failed to start: code ${code}`]);
    expect(await supervisor.stop(5_000)).toBe('in time');
    expect(isAlive(supervisor.pid!)).toBe(false);
  });

  it('restarts a child with increasing delays', async () => {
    const supervisor = supervise('endsAfterStart');
    await until(() => said.length === 3, 'it died three times');
    expect(said).toEqual([500, 1_000, 2_000].map((ms) => `child died of code 7, again in ${ms}`));
    expect(supervisor.address).toBeUndefined();
  });

  it('restarts a child that was killed', async () => {
    const supervisor = await started('stays');
    const { pid } = supervisor;
    process.kill(pid!, 'SIGKILL');
    await until(() => said.length > 0, 'its death is seen');
    expect(said).toEqual(['child died of SIGKILL, again in 500']);
    await until(() => supervisor.address, 'it has started again');
    expect(supervisor.pid).not.toBe(pid);
  });

  it('does not restart a child that it stopped', async () => {
    const supervisor = await started('stays');
    expect(await supervisor.stop(5_000)).toBe('in time');
    expect({ said, alive: isAlive(supervisor.pid!) }).toEqual({ said: [], alive: false });
  });

  it('does not restart a child that died before stop', async () => {
    const supervisor = supervise('endsAfterStart');
    await until(() => said.length > 0, 'it died');
    const { pid } = supervisor;
    expect(await supervisor.stop(5_000)).toBe('in time');
    // The second exit of another child comes later than a restart of the first would have.
    supervise('endsAfterStart');
    await until(() => said.length >= 3, 'another died twice');
    expect({ pid: supervisor.pid, said }).toEqual({
      pid,
      said: [500, 500, 1_000].map((ms) => `child died of code 7, again in ${ms}`),
    });
  });

  it('counts a child that exits with an error during stop as late', async () => {
    expect(await (await started('endsBadly')).stop(5_000)).toBe('late');
  });

  it('counts a child that fails to start during stop as in time', async () => {
    const supervisor = supervise('startsBadly');
    await until(() => lines.length > 0, 'it listens');
    expect(await supervisor.stop(5_000)).toBe('in time');
  });

  it('kills a child that does not stop in time', async () => {
    const supervisor = await started('staysDeaf');
    expect(await supervisor.stop(2_000)).toBe('late');
    expect({ lines, said, alive: isAlive(supervisor.pid!) }).toEqual({
      lines: ['child: heard'],
      said: [],
      alive: false,
    });
  });
});
