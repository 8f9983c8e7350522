import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { until } from './until.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The Chromium of this machine, if there is one: the tests install none. */
function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders
    .flatMap((folder) => NAMES.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** Codes of keys that are no characters. */
const CODES: Readonly<Record<string, number>> = {
  Enter: 13,
  Tab: 9,
  Escape: 27,
  ArrowDown: 40,
  ArrowUp: 38,
};

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

/** One page in a headless Chromium, controlled over a pipe. It records what goes wrong in it. */
export class Browser {
  /** Errors, policy warnings and failed requests. */
  readonly complaints: string[] = [];
  private readonly answers = new Map<number, (message: Message) => void>();
  private asked = 0;
  private session: string | undefined;

  private constructor(
    private readonly child: ChildProcess,
    private readonly folder: string,
  ) {
    let unread = '';
    (child.stdio[4] as Readable).setEncoding('utf8').on('data', (chunk: string) => {
      const messages = (unread + chunk).split('\0');
      unread = messages.pop()!;
      for (const message of messages) this.hear(JSON.parse(message) as Message);
    });
  }

  static async open(url: string, width = 1280, height = 720): Promise<Browser> {
    const folder = await mkdtemp(join(tmpdir(), 'mooring-browser-'));
    const flags = [
      '--headless',
      '--no-sandbox',
      '--disable-dev-shm-usage',
      '--disable-gpu',
      '--no-first-run',
    ];
    const args = [
      ...flags,
      `--user-data-dir=${folder}`,
      `--window-size=${width},${height}`,
      '--remote-debugging-pipe',
    ];
    const stdio: ('ignore' | 'pipe')[] = ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'];
    const program = findChromium();
    if (!program) throw new Error('No Chromium on the PATH. On Debian: apt-get install chromium');
    const browser = new Browser(spawn(program, args, { stdio }), folder);
    try {
      await browser.goTo(url, { width, height });
      return browser;
    } catch (error) {
      await browser.close();
      throw error;
    }
  }

  private async goTo(url: string, size: { width: number; height: number }): Promise<void> {
    const { targetId } = await this.ask('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await this.ask('Target.attachToTarget', { targetId, flatten: true });
    this.session = String(sessionId);
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await this.ask(`${domain}.enable`);
    await this.ask('Emulation.setDeviceMetricsOverride', { ...size, deviceScaleFactor: 1, mobile: false });
    await this.ask('Page.navigate', { url });
  }

  /** The value of an expression in the page. */
  async read<T>(expression: string): Promise<T> {
    const { result, exceptionDetails } = await this.ask('Runtime.evaluate', {
      expression,
      returnByValue: true,
      awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(`${expression}: ${JSON.stringify(exceptionDetails)}`);
    return (result as { value: T }).value;
  }

  /** The text of an element as a reader sees it. */
  text(selector: string): Promise<string> {
    return this.read(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ''`);
  }

  untilText(selector: string, expected: RegExp, withinMs?: number): Promise<string> {
    return until(
      async () => {
        const text = await this.text(selector);
        if (!expected.test(text)) throw new Error(`${selector} says: ${text}`);
        return text;
      },
      `${selector} says ${expected}`,
      withinMs,
    );
  }

  /** Presses the button with that text in an element; waits until it exists. */
  async press(selector: string, text: string): Promise<void> {
    const find = `[...document.querySelectorAll(${JSON.stringify(`${selector} button, ${selector} input`)})].find((one) => (one.innerText || one.type) === ${JSON.stringify(text)} && !one.disabled)`;
    await until(() => this.read<boolean>(`Boolean(${find})`), `${selector} has ${text}`);
    await this.read(`${find}.click()`);
  }

  /** Presses a key as a person does: a letter, or a named key, with modifiers as in `Control+k`. */
  async key(name: string): Promise<void> {
    const [key = '', ...modifiers] = name.split('+').toReversed();
    const known = { Enter: '\r', Tab: '\t' }[key];
    const text = known ?? (key.length === 1 ? key : undefined);
    const bits = modifiers.includes('Control') ? 2 : modifiers.includes('Shift') ? 8 : 0;
    const windowsVirtualKeyCode = CODES[key] ?? key.toUpperCase().charCodeAt(0);
    const event = {
      key,
      code: key.length === 1 ? '' : key,
      modifiers: bits,
      windowsVirtualKeyCode,
      ...(text !== undefined && !bits && { text }),
    };
    await this.ask('Input.dispatchKeyEvent', { ...event, type: 'keyDown' });
    await this.ask('Input.dispatchKeyEvent', { ...event, type: 'keyUp' });
  }

  /** Types into what has the focus. */
  async type(text: string): Promise<void> {
    await this.ask('Input.insertText', { text });
  }

  /** Bytes of the page's objects that are still in use. */
  async heapBytes(): Promise<number> {
    await this.ask('HeapProfiler.collectGarbage');
    const { usedSize } = await this.ask('Runtime.getHeapUsage');
    return usedSize as number;
  }

  async resize(width: number, height: number): Promise<void> {
    const metrics = { width, height, deviceScaleFactor: 1, mobile: false };
    await this.ask('Emulation.setDeviceMetricsOverride', metrics);
  }

  async prefer(scheme: 'light' | 'dark'): Promise<void> {
    const features = [{ name: 'prefers-color-scheme', value: scheme }];
    await this.ask('Emulation.setEmulatedMedia', { features });
  }

  /** Saves a picture if a folder is given: `PICTURES=pictures npm run test:tools`. */
  async screenshot(name: string): Promise<void> {
    const folder = process.env['PICTURES'];
    if (!folder) return;
    const { data } = await this.ask('Page.captureScreenshot', { format: 'png' });
    await mkdir(folder, { recursive: true });
    await writeFile(join(folder, name), String(data), 'base64');
  }

  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.child.once('exit', resolve));
    this.session = undefined;
    this.ask('Browser.close').catch(() => undefined);
    const late = setTimeout(() => this.child.kill('SIGKILL'), 5_000);
    await gone;
    clearTimeout(late);
    await rm(this.folder, { recursive: true, force: true, maxRetries: 5 });
  }

  private ask(method: string, params: object = {}): Promise<Record<string, unknown>> {
    const id = (this.asked += 1);
    const message = { id, method, params, ...(this.session !== undefined && { sessionId: this.session }) };
    (this.child.stdio[3] as Writable).write(`${JSON.stringify(message)}\0`);
    return new Promise((resolve, reject) => {
      this.answers.set(id, ({ result, error }) =>
        error ? reject(new Error(`${method}: ${error.message}`)) : resolve(result ?? {}),
      );
    });
  }

  private hear({ id, method, params, ...rest }: Message): void {
    if (id !== undefined) {
      this.answers.get(id)?.(rest);
      this.answers.delete(id);
    }
    const { level } = (params?.['entry'] ?? {}) as { level?: string };
    const isBad = method === 'Log.entryAdded' && level !== 'verbose' && level !== 'info';
    const isError = method === 'Runtime.consoleAPICalled' && params?.['type'] === 'error';
    if (method === 'Runtime.exceptionThrown' || isBad || isError)
      this.complaints.push(JSON.stringify(params));
  }
}
