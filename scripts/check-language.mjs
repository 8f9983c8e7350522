/*
  Finds words and phrases that Mooring's prose and code do not use; `scripts/language.json` lists them with the rule.

  It reads the tracked text files of the current folder. Words match whole and in any case. Identifiers are split first
  (`isDoneTwice`, `is_done_twice` and `is-done-twice` are three words each), and phrases match across line breaks.

    node scripts/check-language.mjs          prints `file:line: word`, and exits 1 if there is one
    node scripts/check-language.mjs --all    the same, with the folders that are not mended yet
*/
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const LIST = join(import.meta.dirname, 'language.json');
const NOT_READ = ['package-lock.json', 'language.json'];
// Between two words of a phrase: blanks, or a line break and the mark that begins the next line of a comment.
const GAP = String.raw`(?:[ \t]+|[ \t]*\r?\n[ \t]*(?:\*|//|#|--|>)?[ \t]*)`;

const { rule, words, notMended } = JSON.parse(readFileSync(LIST, 'utf8'));
const skipped = process.argv.includes('--all') ? [] : notMended;
const patterns = Object.entries(words).map(([word, instead]) => ({
  word,
  instead,
  pattern: new RegExp(String.raw`(?<![A-Za-z])${word.split(' ').join(GAP)}(?![A-Za-z])`, 'gi'),
}));

const hits = trackedFiles().flatMap((file) => [...hitsIn(file, file), ...hitsIn(file, textOf(file))]);
for (const { file, line, word, instead } of hits) console.error(`${file}:${line}: "${word}" (${instead})`);
if (hits.length > 0) {
  console.error(`${hits.length} found. ${rule}`);
  process.exitCode = 1;
}

function trackedFiles() {
  const listed = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  return listed
    .split('\0')
    .filter((file) => file && existsSync(file) && !NOT_READ.includes(basename(file)))
    .filter((file) => !skipped.some((folder) => `${file}/`.startsWith(`${folder}/`)));
}

/** A file with a NUL byte is not text. */
function textOf(file) {
  const bytes = readFileSync(file);
  return bytes.includes(0) ? '' : bytes.toString('utf8');
}

function hitsIn(file, text) {
  const prose = withSplitIdentifiers(text);
  return patterns
    .flatMap(({ word, instead, pattern }) =>
      [...prose.matchAll(pattern)].map(({ index }) => ({
        file,
        line: prose.slice(0, index).split('\n').length,
        word,
        instead,
      })),
    )
    .toSorted((one, other) => one.line - other.line);
}

/** Splitting adds blanks and no line breaks, so line numbers stay as they are in the file. */
function withSplitIdentifiers(text) {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .replaceAll(/[_-]/g, ' ');
}
