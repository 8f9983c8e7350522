// Loaded before an app: kills it, as by kill -9, when it first sends a script (FAIL_POINT=before:finish) or gets its
// answer (after:finish). A script of the core has the name of its recipe; one of a workload has the name of its library
// and its own: sites/change. Other points are the n-th command of any kind since it got a message (before:#7,
// after:#7), its first command of a name (before:command/xadd), and its first call of a name to a container engine
// (after:engine/stop). `lost:#7` loses the answer and the connection, and the client repeats what was not answered. The
// product has no code for this.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import http from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Redis } from 'ioredis';

const [when, name] = process.env['FAIL_POINT'].split(':');
const LIBS = new URL('../../libs/', import.meta.url);
const ENGINE_CALLS = {
  create: /^POST .*\/containers\/create\b/,
  start: /^POST .*\/start\b/,
  stop: /^POST .*\/stop\b/,
  remove: /^DELETE /,
};
const isIt = isOf(name);

function isOf(point) {
  if (point.startsWith('engine/')) return watchEngine(ENGINE_CALLS[point.slice('engine/'.length)]);
  if (point.startsWith('command/')) return ({ name: command }) => command === point.slice('command/'.length);
  return point.startsWith('#') ? isNth(Number(point.slice(1))) : isScript(point);
}

/** Not a command. */
function watchEngine(call) {
  const request = http.request;
  http.request = (options, ...rest) => {
    const made = request(options, ...rest);
    if (!call.test(`${options.method} ${options.path}`)) return made;
    if (when === 'before') die();
    return made.prependOnceListener('response', die);
  };
  syncBuiltinESMExports();
  return () => false;
}

function isScript(script) {
  const [room, own] = script.split('/');
  return own === undefined ? isOfCore(room) : isText(workloadText(room, own));
}

/** The core defines its scripts as commands of the client, under names of their own. */
function isOfCore(recipe) {
  return ({ name: command, args }, { scriptsSet }) =>
    command === 'evalsha' && args[0] === scriptsSet[`mooring:${recipe}`]?.sha;
}

function isText(text) {
  const sha = createHash('sha1').update(text).digest('hex');
  return ({ name: command, args }) =>
    (command === 'evalsha' && args[0] === sha) || (command === 'eval' && args[0] === text);
}

/** Composed as in the workload kit: an included file may include others. */
function workloadText(room, file) {
  const folders = [`workloads/${room}/src/scripts/`, 'workload-kit/src/scripts/'];
  const files = folders.map((folder) => new URL(`${folder}${file}.lua`, LIBS));
  const text = readFileSync(
    files.find((each) => existsSync(each)),
    'utf8',
  );
  return text.replace(/^--- @include (\w+)$/gm, (_, piece) => workloadText(room, piece));
}

function isNth(n) {
  let isCounting = false;
  globalThis.commandsSent = 0;
  process.prependOnceListener('message', () => (isCounting = true));
  return () => isCounting && (globalThis.commandsSent += 1) === n;
}

/** The first of the unanswered commands on this connection, which is repeated first. */
function loseAnswer(redis, command, pipeline) {
  const { resolve } = command;
  const { stream } = redis;
  command.resolve = () => {
    command.resolve = resolve;
    const unanswered = { command, stream: pipeline, select: redis.condition.select };
    stream.prependOnceListener('close', () => redis.commandQueue.unshift(unanswered));
    stream.destroy();
  };
}

function die() {
  process.kill(process.pid, 'SIGKILL');
}

const original = Object.getOwnPropertyDescriptor(Redis.prototype, 'sendCommand').value;
Redis.prototype.sendCommand = function (command, ...rest) {
  if (!isIt(command, this)) return original.call(this, command, ...rest);
  if (when === 'before') die();
  if (when === 'lost') {
    loseAnswer(this, command, rest[0]);
    return original.call(this, command, ...rest);
  }
  // Only a real answer counts, not the error that the server does not have the script yet.
  command.promise.then(die, () => undefined);
  return original.call(this, command, ...rest);
};
