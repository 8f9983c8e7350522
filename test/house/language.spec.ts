import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { root } from '../support/process.js';

const script = join(root, 'scripts/check-language.mjs');
const list = JSON.parse(readFileSync(join(root, 'scripts/language.json'), 'utf8')) as {
  words: Record<string, string>;
  notMended: string[];
};
const words = Object.keys(list.words);
const word = words.find((each) => !each.includes(' '))!;
const phrase = words.find((each) => each.includes(' '))!;

describe('the check of the language', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'mooring-language-'));
    execFileSync('git', ['init', '--quiet'], { cwd: folder });
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('passes plain text, and words that only contain a listed one', () => {
    expect(check({ 'page.md': `The worker runs the job.\nThis is x${word}y.\n` })).toEqual({
      status: 0,
      lines: [],
    });
  });

  it('finds every listed word, with its file, its line and what to write instead', () => {
    const { status, lines } = check({
      'page.md': words.map((each) => `Here ${each.toUpperCase()} ends.\n`).join(''),
    });
    expect(status).toBe(1);
    expect(lines.slice(0, -1)).toEqual(
      words.map((each, index) => `page.md:${index + 1}: "${each}" (${list.words[each]})`),
    );
  });

  it('finds a phrase that a line break of a comment divides', () => {
    const text = `/*\n * Then ${phrase.replace(' ', '\n * ')} follows.\n */\n`;
    expect(check({ 'code.ts': text }).lines[0]).toContain(`code.ts:2: "${phrase}"`);
  });

  it('finds a word in identifiers and in names of files', () => {
    const Capital = word[0]!.toUpperCase() + word.slice(1);
    const text = `const is${Capital}Here = 1;\nconst ${word.toUpperCase()}_HERE = 2;\nclass ${Capital}s {}\n`;
    expect(check({ [`${word}-code.ts`]: text }).lines).toHaveLength(4);
  });

  it('leaves out the folders that are not mended yet, and files that are not text', () => {
    const files = { 'picture.bin': `\0 ${word}` };
    const mended = list.notMended.map((each) => [`${each}/a.md`, word]);
    expect(check({ ...files, ...Object.fromEntries(mended) }).status).toBe(0);
  });

  function check(files: Record<string, string>): { status: number | null; lines: string[] } {
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, file)), { recursive: true });
      writeFileSync(join(folder, file), text);
    }
    execFileSync('git', ['add', '--all'], { cwd: folder });
    const { status, stderr } = spawnSync(process.execPath, [script], { cwd: folder, encoding: 'utf8' });
    return { status, lines: stderr.split('\n').filter(Boolean) };
  }
});
