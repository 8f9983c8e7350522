// Private container engines, beside any that run on this machine. Their data, sockets and pids are in one folder, they create
// no bridge and no firewall rule, and `stop` removes everything.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, openSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { mkdir, mkdtemp, symlink, copyFile } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const START_MS = 60_000;
const END_MS = 20_000;
/** Low and explicit: without the right to raise limits, the engine's defaults make each start fail. */
const ULIMITS = ['nofile', 'nproc'];
const CGROUPS = '/sys/fs/cgroup';
const OF_ENGINES = ['docker', 'libpod_parent'];

export class PrivateEngines {
  engines = {};
  cgroupsBefore = new Set(cgroups());

  static async start(say) {
    const engines = new PrivateEngines();
    engines.folder = await mkdtemp(join(tmpdir(), 'mooring-engines-'));
    try {
      await engines.startAll(say);
      return engines;
    } catch (error) {
      await engines.stop();
      throw error;
    }
  }

  async startAll(say) {
    await this.packImages();
    for (const kind of [Dockerd, Podman]) {
      const engine = new kind(this.folder);
      this.engines[engine.name] = engine;
      await engine.start();
      engine.import('busybox', join(this.folder, 'busybox.tar'));
      engine.import('bare', join(this.folder, 'bare.tar'));
      say(`${engine.name}: ${engine.versions()}`);
    }
  }

  /** An image that can be kept idle, and an image without any program. */
  async packImages() {
    const [busybox, bare] = [join(this.folder, 'busybox'), join(this.folder, 'bare')];
    for (const folder of ['bin', 'tmp', 'etc']) await mkdir(join(busybox, folder), { recursive: true });
    await copyFile(findBusybox(), join(busybox, 'bin/busybox'));
    for (const name of ['sh', 'tail', 'sleep', 'cat', 'id'])
      await symlink('busybox', join(busybox, 'bin', name));
    await mkdir(join(bare, 'tmp'), { recursive: true });
    for (const root of [busybox, bare]) execFileSync('tar', ['-C', root, '-cf', `${root}.tar`, '.']);
  }

  async stop() {
    for (const engine of Object.values(this.engines)) await engine.stop();
    // Leftover processes of an engine (a shim, a monitor) are found by their folder.
    for (const pid of processesOf(this.folder)) kill(pid, 'SIGKILL');
    for (const point of mountsBelow(this.folder)) tryTo(() => execFileSync('umount', ['-l', point]));
    rmSync(this.folder, { recursive: true, force: true });
    for (const group of cgroups().filter((each) => !this.cgroupsBefore.has(each))) removeCgroup(group);
  }
}

/** Common to both: a process that listens on a socket and can be stopped, restarted and frozen. */
class Engine {
  constructor(folder) {
    this.folder = join(folder, this.name);
    this.socket = join(folder, `${this.name}.sock`);
    this.log = join(folder, `${this.name}.log`);
  }

  get host() {
    return `unix://${this.socket}`;
  }

  async start() {
    await mkdir(this.folder, { recursive: true });
    this.prepare();
    const log = openSync(this.log, 'a');
    const [program, ...args] = this.command();
    // In its own session: Ctrl-C in the terminal must not reach it before the tests have ended.
    this.child = spawn(program, args, {
      stdio: ['ignore', log, log],
      detached: true,
      env: { ...process.env, ...this.env() },
    });
    this.child.once('error', (error) => (this.failed = error));
    const deadline = Date.now() + START_MS;
    while (!(await answers(this.socket))) {
      if (this.failed || this.child.exitCode !== null || Date.now() > deadline)
        throw new Error(this.whyNot());
      await pause(50);
    }
  }

  whyNot() {
    const said = readFileSync(this.log, 'utf8').split('\n').slice(-15).join('\n');
    return `${this.name} could not be started. ${this.failed?.message ?? ''}\n${said}`;
  }

  async end() {
    const { child } = this;
    if (!child?.pid || child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, 'exit');
    kill(child.pid, 'SIGTERM');
    const timer = setTimeout(() => kill(child.pid, 'SIGKILL'), END_MS);
    await ended;
    clearTimeout(timer);
  }

  async restart() {
    await this.end();
    await this.start();
  }

  async freeze() {
    kill(this.child.pid, 'SIGSTOP');
    const stat = `/proc/${this.child.pid}/stat`;
    while (!/\) T /.test(readFileSync(stat, 'utf8'))) await pause(5);
  }

  thaw() {
    kill(this.child.pid, 'SIGCONT');
  }

  async stop() {
    if (this.child?.pid) this.thaw();
    if (this.child && (await answers(this.socket))) await this.removeAll().catch(() => undefined);
    await this.end();
  }

  async removeAll() {
    const listed = await ask(this.socket, 'GET', '/containers/json?all=true');
    for (const { Id } of JSON.parse(listed.text))
      await ask(this.socket, 'DELETE', `/containers/${Id}?force=true`);
  }

  env() {
    return {};
  }
}

class Dockerd extends Engine {
  get name() {
    return 'dockerd';
  }

  prepare() {
    const limits = ULIMITS.map((Name) => [Name, { Name, Hard: 4_096, Soft: 4_096 }]);
    const config = { 'default-ulimits': Object.fromEntries(limits), 'live-restore': true };
    writeFileSync(join(this.folder, 'daemon.json'), JSON.stringify(config));
    // Left by an engine that was killed.
    rmSync(join(this.folder, 'dockerd.pid'), { force: true });
  }

  command() {
    const [config, data, exec, pid] = ['daemon.json', 'data', 'exec', 'dockerd.pid'].map((name) =>
      join(this.folder, name),
    );
    // prettier-ignore
    return [
      'dockerd', '--config-file', config, '--data-root', data, '--exec-root', exec, '--pidfile', pid, '-H', this.host,
      '--bridge=none', '--iptables=false', '--ip6tables=false', '--ip-forward=false',
      // If a containerd already runs, the engine uses it under these names.
      '--containerd-namespace', 'mooring-tests', '--containerd-plugins-namespace', 'mooring-tests-plugins',
    ];
  }

  import(name, tar) {
    execFileSync('docker', ['-H', this.host, 'import', '--change', 'ENV PATH=/bin', tar, `${name}:latest`]);
  }

  versions() {
    const [runtime] = execFileSync('runc', ['--version'], { encoding: 'utf8' }).split('\n');
    return `${execFileSync('dockerd', ['--version'], { encoding: 'utf8' }).trim()}, ${runtime}`;
  }
}

class Podman extends Engine {
  get name() {
    return 'podman';
  }

  prepare() {
    const limits = ULIMITS.map((name) => `"${name}=4096:4096"`).join(', ');
    // crun refuses to run if both versions of control groups are mounted.
    const config = `[containers]\ndefault_ulimits = [${limits}]\n[engine]\nruntime = "runc"\ncgroup_manager = "cgroupfs"\nevents_logger = "file"\n`;
    writeFileSync(join(this.folder, 'containers.conf'), config);
  }

  command() {
    return ['podman', ...this.place(), 'system', 'service', '--time=0', this.host];
  }

  place() {
    return [
      '--root',
      join(this.folder, 'root'),
      '--runroot',
      join(this.folder, 'run'),
      '--tmpdir',
      join(this.folder, 'tmp'),
    ];
  }

  env() {
    return { CONTAINERS_CONF: join(this.folder, 'containers.conf') };
  }

  import(name, tar) {
    const args = ['import', '--change', 'ENV PATH=/bin', tar, `docker.io/library/${name}:latest`];
    execFileSync('podman', [...this.place(), ...args], {
      env: { ...process.env, ...this.env() },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  }

  versions() {
    return execFileSync('podman', ['--version'], { encoding: 'utf8' }).trim();
  }
}

async function answers(socket) {
  return (await ask(socket, 'GET', '/_ping').catch(() => undefined))?.status === 200;
}

function ask(socketPath, method, path) {
  return new Promise((resolve, reject) => {
    const asked = request({ socketPath, method, path, timeout: 5_000 }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', reject);
    });
    asked.on('timeout', () => asked.destroy(new Error('No answer.')));
    asked.on('error', reject).end();
  });
}

function findBusybox() {
  const found = ['/bin/busybox', '/usr/bin/busybox', '/sbin/busybox'].find((file) => existsSync(file));
  if (!found) throw new Error('There is no busybox to make an image of.');
  return found;
}

function processesOf(folder) {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((pid) => (tryTo(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8')) ?? '').includes(folder))
    .map(Number);
}

/** The innermost first. */
function mountsBelow(folder) {
  const points = readFileSync('/proc/mounts', 'utf8')
    .split('\n')
    .map((line) => line.split(' ')[1] ?? '');
  return points.filter((point) => point.startsWith(`${folder}/`)).toReversed();
}

/** The control groups that an engine creates, of each version. */
function cgroups() {
  const below = (folder) =>
    (tryTo(() => readdirSync(folder, { withFileTypes: true })) ?? [])
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(folder, entry.name));
  const first = below(CGROUPS);
  const second = first.flatMap(below);
  return [...second, ...first].filter((folder) => OF_ENGINES.includes(basename(folder)));
}

/** Removes the innermost first, and keeps those that still have processes. */
function removeCgroup(folder) {
  for (const entry of tryTo(() => readdirSync(folder, { withFileTypes: true })) ?? [])
    if (entry.isDirectory()) removeCgroup(join(folder, entry.name));
  tryTo(() => rmdirSync(folder));
}

function kill(pid, signal) {
  tryTo(() => process.kill(pid, signal));
}

function tryTo(work) {
  try {
    return work();
  } catch {
    return undefined;
  }
}
