import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findServer, startEmbedded } from '#runtime';
import { until } from './until.js';

/**
 * A store of one test, which can be frozen, killed and restarted: a real server if there is one, else the embedded one.
 */
export class TestStore {
  private pid = 0;
  private gone: Promise<unknown> = Promise.resolve();

  private constructor(
    readonly port: number,
    private readonly folder: string,
    private readonly args: readonly string[],
  ) {}

  static async start(...args: string[]): Promise<TestStore> {
    const folder = await mkdtemp(join(tmpdir(), 'mooring-store-'));
    const store = new TestStore(await freePort(), folder, args);
    await store.restart();
    return store;
  }

  get url(): string {
    return `redis://127.0.0.1:${this.port}`;
  }

  /** On the same port, with the same data (the embedded store keeps none). */
  async restart(): Promise<void> {
    const program = findServer();
    if (program) {
      const child = this.spawnServer(program);
      this.pid = child.pid!;
      this.gone = new Promise((resolve) => child.once('exit', resolve));
    } else {
      const embedded = await startEmbedded({ port: this.port, stdio: 'ignore' });
      this.pid = embedded.pid;
      this.gone = embedded.exited;
    }
    await until(() => this.answers(), 'the store answers');
  }

  freeze(): void {
    process.kill(this.pid, 'SIGSTOP');
  }

  thaw(): void {
    process.kill(this.pid, 'SIGCONT');
  }

  async kill(): Promise<void> {
    process.kill(this.pid, 'SIGKILL');
    await this.gone;
  }

  async stop(): Promise<void> {
    await this.kill().catch(() => undefined);
    await rm(this.folder, { recursive: true, force: true });
  }

  private spawnServer(program: string): ChildProcess {
    const args = ['--port', String(this.port), '--bind', '127.0.0.1', '--dir', this.folder, '--save', ''];
    return spawn(program, [...args, '--appendonly', 'yes', ...this.args], { stdio: 'ignore' });
  }

  /** The error that the store requires a password is an answer as well. */
  private answers(): Promise<boolean> {
    return new Promise((resolve) => {
      const socket = connect(this.port, '127.0.0.1', () => socket.write('PING\r\n'));
      socket.once('data', (reply) => socket.destroy() && resolve(/^(\+PONG|-NOAUTH)/.test(reply.toString())));
      socket.once('error', () => resolve(false));
    });
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const { port } = probe.address() as AddressInfo;
      probe.close(() => resolve(port));
    });
  });
}
