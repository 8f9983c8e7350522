import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';

/**
 * What happens to the connection that sends a certain text: `drop` lets it arrive and cuts the connection when the
 * answer comes; `cut` lets it not arrive at all; `hang` lets it arrive, and silence follows; `hold` lets it arrive when it is
 * told to; `gather` lets it arrive, and brings what is answered at once when the store has ended the connection.
 */
type Fault = 'drop' | 'cut' | 'hang' | 'hold' | 'gather';

/** Stands between a fleet and its store, and makes one reply go wrong. */
export class Proxy {
  /** Each answer comes so much later: what waits for many, one after the other, takes as many times as long. */
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

  /** Once, to the next connection that sends this text; answers when that has happened. */
  next(fault: Fault, text: RegExp): Promise<void> {
    return new Promise((resolve) => (this.armed = { fault, text, met: resolve }));
  }

  /** What hangs is cut. */
  cutHanging(): void {
    for (const socket of this.hanging) socket.destroy();
  }

  /** What is held arrives. */
  release(): void {
    for (const send of this.held) send();
    this.held.clear();
  }

  async stop(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** None overtakes another, whatever the lag was when it came. */
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
