import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * The fault of the connection that sends a certain text: `drop` delivers it and cuts the connection at the answer;
 * `cut` does not deliver it; `hang` delivers it and nothing after it; `hold` delivers it on `release`; `gather`
 * delivers it and passes the answers on at once when the store has closed the connection.
 */
type Fault = 'drop' | 'cut' | 'hang' | 'hold' | 'gather';

/** A proxy between a fleet and its store that makes one reply fail. */
export class Proxy {
  /** The delay of each answer: a call that waits for many answers in sequence takes as many delays. */
  lagMs = 0;
  /** How many bytes the store answered. */
  answered = 0;
  private armed: { fault: Fault; text: RegExp; met: () => void } | undefined;
  private readonly sockets = new Set<Socket>();
  private readonly hanging = new Set<Socket>();
  private readonly held = new Set<() => void>();

  private constructor(
    private readonly server: Server,
    private readonly storePort: number,
  ) {
    server.on('connection', (client) => this.join(client));
  }

  static async start(storeUrl: string): Promise<Proxy> {
    const server = createServer();
    const proxy = new Proxy(server, Number(new URL(storeUrl).port));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `redis://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Applies once, to the next connection that sends this text; resolves when that has happened. */
  next(fault: Fault, text: RegExp): Promise<void> {
    return new Promise((resolve) => (this.armed = { fault, text, met: resolve }));
  }

  /** Cuts the hanging connections. */
  cutHanging(): void {
    for (const socket of this.hanging) socket.destroy();
  }

  /** Delivers what is held. */
  release(): void {
    for (const send of this.held) send();
    this.held.clear();
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Keeps the order of answers when the lag changes. */
  private inOrder(write: (data: Buffer) => void): (data: Buffer) => void {
    const line: { readonly data: Buffer; readonly at: number }[] = [];
    const next = (): void => {
      while (line[0] && line[0].at <= performance.now()) write(line.shift()!.data);
      if (line[0]) setTimeout(next, Math.ceil(line[0].at - performance.now()));
    };
    return (data) => {
      line.push({ data, at: performance.now() + this.lagMs });
      if (line.length === 1) next();
    };
  }

  private join(client: Socket): void {
    const store = connect(this.storePort, '127.0.0.1');
    let fault: Fault | undefined;
    const gathered: Buffer[] = [];
    const pass = this.inOrder((data) => client.write(data));
    client.on('data', (data) => {
      if (fault === 'hang') return;
      if (this.armed?.text.test(data.toString('latin1'))) {
        fault = this.armed.fault;
        this.armed.met();
        this.armed = undefined;
      }
      if (fault === 'hang') this.hanging.add(client);
      if (fault === 'cut') client.destroy();
      else if (fault === 'hold') {
        this.held.add(() => {
          fault = undefined;
          store.write(data);
        });
      } else store.write(data);
    });
    store.on('data', (data) => {
      this.answered += data.length;
      if (fault === 'drop') client.destroy();
      else if (fault === 'gather') gathered.push(data);
      else if (fault !== 'hang') pass(data);
    });
    for (const [one, other] of [
      [client, store],
      [store, client],
    ] as const) {
      this.sockets.add(one);
      one.on('error', () => one.destroy());
      one.on('close', () => {
        this.sockets.delete(one);
        this.hanging.delete(one);
        if (one === store && gathered.length > 0) client.end(Buffer.concat(gathered.splice(0)));
        else other.destroy();
      });
    }
  }
}
