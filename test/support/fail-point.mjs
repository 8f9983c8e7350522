// Loaded before an app: kills it, as by kill -9, when it sends a script for the first time (FAIL_POINT=before:finish), or
// when the script's answer comes (after:finish). A script of the core has the name of its recipe; one of a workload is named with its room: sites/change. Or at the n-th command of any kind since it was sent a message
// (before:#7, after:#7), or its first one of that name (before:command/xadd). Or at its first such call to a container engine
// (after:engine/stop). Or its answer is lost, and with it the connection: the client sends again what was not answered (lost:#7). The product
// knows nothing of it.
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

/** No command is it. */
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

/** As the workload kit composes it: a piece that a script includes may include others. */
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

/** The first to be sent again, of all that this connection has no answer to. */
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
  // Only a real answer counts; that the server does not know the script yet is none.
  command.promise.then(die, () => undefined);
  return original.call(this, command, ...rest);
};
