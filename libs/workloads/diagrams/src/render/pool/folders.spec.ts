import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { makeFolder, removeFolder, sweepFolders } from './folders.js';

it('removes only the folder of a dead worker', async () => {
  const mine = makeFolder();
  const { pid } = spawnSync('true');
  const left = mine.replace(`-${process.pid}-`, `-${pid}-`);
  const elsewhere = left.replace(/mooring-render-\w+/, 'mooring-render-others');
  for (const folder of [left, elsewhere]) mkdirSync(folder);
  await sweepFolders();
  expect([mine, left, elsewhere].map((folder) => existsSync(folder))).toEqual([true, false, true]);
  for (const folder of [mine, elsewhere]) await removeFolder(folder);
});
