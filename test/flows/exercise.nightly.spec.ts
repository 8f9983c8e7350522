import { execFile } from 'node:child_process';
import { access, readFile } from 'node:fs/promises';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { root, TestProcess } from '../support/process.js';
import { freePort } from '../support/store.js';
import { until } from '../support/until.js';

const ERROR = "Cannot read properties of undefined (reading 'currency')";

/** Does the night exercise by the commands of the page, as they stand there. */
describe('the night exercise of docs/operating.md', () => {
  let exercise: TestProcess;
  let port: number;
  let steps: string[];

  beforeAll(async () => {
    const page = await readFile(`${root}/docs/operating.md`, 'utf8');
    const section = /^## A night exercise\n(.*?)^## /ms.exec(page)![1]!;
    steps = [...section.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands]) => commands!);
    port = await freePort();
    exercise = TestProcess.script([`${root}/scripts/exercise.mjs`], {
      PORT: String(port),
      REDIS_URL: inject('storeUrl'),
    });
    await until(() => exercise.output.includes('It is night.'), 'the scene is set', 55_000);
  });
  afterAll(async () => {
    exercise.kill('SIGTERM');
    expect(await exercise.exited).toEqual({ code: 0, signal: null });
    await expect(access(`${root}/.mooring/exercise`)).rejects.toMatchObject({ code: 'ENOENT' });
    const redis = new Redis(inject('storeUrl'));
    expect(await redis.keys('*exercise-*')).toEqual([]);
    await redis.quit();
  });

  it.each([
    [['--help'], {}, 0, 'Usage: npm run exercise'],
    [['roll-back'], {}, 2, 'Unknown argument "roll-back".\nUsage: '],
    [['rollback', 'now'], {}, 2, 'Unknown argument "now".\n'],
    [[], {}, 1, 'An exercise runs already, at http://127.0.0.1:'],
  ])('answers %j without starting anything', async (args, env, code, text) => {
    const asked = TestProcess.script([`${root}/scripts/exercise.mjs`, ...args], env);
    expect(await asked.exited).toEqual({ code, signal: null });
    expect(asked.output).toContain(text);
  });

  it('leads from 500 failed jobs to nothing that is left', async () => {
    const [setup, find, pause, count, rollBack, retry, cancel, resume, prove, ...more] = steps;
    expect([steps.length, more]).toEqual([9, []]);
    const run = (commands: string) => shell(setup! + commands);

    const [, jobId] = /^(shop-\S+) /m.exec(await run('mooring jobs --state failed --limit 1'))!;
    const found = await run(find!.replace('<jobId>', jobId!));
    expect(found).toMatch(/^shop-shipping +0 +0 +0 +60 +12\d /m);
    expect(found).toContain(`\nerror     ${ERROR}\n`);
    expect(found).toMatch(/info +Release 2 /);

    expect(await run(pause!)).toMatch(/^(shop-\w+ is paused: .*\n){3}$/);
    const counted = await run(count!);
    const matched = Number(/^matched +(\d+)$/m.exec(counted)![1]);
    expect(matched).toBeGreaterThanOrEqual(500);
    expect(counted).toMatch(/^count +kind +error\n +\d+ +shop\.receipt +Cannot read .*\n.* shop\.invoice /m);
    expect(counted).toContain('There is no mailbox of customer');
    await run(rollBack!);

    expect(await run(retry!)).toContain(`\nmatched  ${matched}\ndone     ${matched}\n`);
    const cancelled = await run(cancel!);
    const [, many] = /^Dry run: nothing was cancelled\. .* would end (\d+) waiting jobs/.exec(cancelled)!;
    expect(Number(many)).toBeGreaterThan(15);
    expect(cancelled).toMatch(/^customer:7 is cancelled: \d+ waiting jobs removed\./m);

    expect(await run(resume!)).toMatch(/^(shop-\w+ runs\.\n){3}$/);
    const QUIET = /^shop-mail +0 +0 +0 +\d+ +\d+ +-\nshop-billing +0 +0 +0 .*\nshop-shipping +0 +0 +0 /m;
    await until(async () => QUIET.test(await run('mooring queues')), 'the queues have run', 30_000);
    expect(await run(prove!)).toMatch(
      new RegExp(
        [
          'There are no such jobs.',
          'There are no such jobs.',
          'customer:7 is closed \\(new work is refused\\), with no unfinished jobs.\n\nEnded jobs are listed by: mooring jobs --owner customer:7',
          'at +job .*\n(.* removed by api: operation op-.*\n)+(.* cancelled by api: closed the account .*\n){15,}There are no such cancellations.',
          'operation .*\n.* remove .*\n.* retry .*\n.* retry \\(dry run\\) .*\n$',
        ].join('\n'),
      ),
    );
    // Jobs with another error were left as they are: a retried one has a third attempt.
    const answer = await fetch(`http://127.0.0.1:${port}/v1/jobs?state=failed&limit=1000`);
    const { jobs } = (await answer.json()) as { jobs: { error: string; attempts: number }[] };
    expect(jobs.length).toBeGreaterThan(30);
    expect(jobs.filter(({ error, attempts }) => !error.includes('mailbox') || attempts !== 2)).toEqual([]);
  }, 180_000);

  /** What the commands print. */
  function shell(commands: string): Promise<string> {
    const { PATH, HOME } = process.env;
    const script = `shopt -s expand_aliases\n${commands.replaceAll('3100', String(port))}`;
    const env = { PATH, HOME };
    return new Promise((resolve, reject) => {
      execFile('bash', ['-ec', script], { cwd: root, env }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${commands}\n${stdout}${stderr}`));
        else resolve(stdout);
      });
    });
  }
});
