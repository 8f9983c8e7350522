// Loaded before an app: kills it, as by kill -9, when it sends a script for the first time (FAIL_POINT=before:commit), or
// when the script's answer comes (after:commit). The product knows nothing of it.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';

const [when, name] = process.env['FAIL_POINT'].split(':');
const FOLDERS = { begin: 'gate', take: 'gate', commit: 'settle', end: 'settle' };
const text = read(`${FOLDERS[name]}/${name}`).replace(/^--- @include (\w+)$/gm, (_, piece) =>
  read(`scripts/${piece}`),
);
const sha = createHash('sha1').update(text).digest('hex');

function read(path) {
  return readFileSync(new URL(`../../libs/lifecycle/src/${path}.lua`, import.meta.url), 'utf8');
}

function die() {
  process.kill(process.pid, 'SIGKILL');
}

const original = Object.getOwnPropertyDescriptor(Redis.prototype, 'sendCommand').value;
Redis.prototype.sendCommand = function (command, ...rest) {
  const isIt =
    (command.name === 'evalsha' && command.args[0] === sha) ||
    (command.name === 'eval' && command.args[0] === text);
  if (!isIt) return original.call(this, command, ...rest);
  if (when === 'before') die();
  // Only a real answer counts; that the server does not know the script yet is none.
  command.promise.then(die, () => undefined);
  return original.call(this, command, ...rest);
};
