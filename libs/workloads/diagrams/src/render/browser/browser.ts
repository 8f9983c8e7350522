import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import puppeteer, { type Browser, type HTTPRequest, type Page } from 'puppeteer-core';
import { dejaVuFile } from '../fonts/dejavu.js';
import type { Ready } from '../pool/words.js';

/** Nothing in a page may load anything, whatever the browser thinks of the request. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:";
const FLAGS = [
  '--disable-dev-shm-usage',
  '--disable-gpu',
  '--disable-extensions',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-domain-reliability',
  '--disable-sync',
  '--no-first-run',
  '--no-pings',
  '--mute-audio',
  '--js-flags=--max-old-space-size=384',
  // Whatever slips by the rest asks a proxy and a resolver that are not there.
  '--proxy-server=http://127.0.0.1:9',
  '--proxy-bypass-list=<-loopback>',
  '--host-resolver-rules=MAP * ~NOTFOUND',
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
];
const MERMAID = createRequire(import.meta.url).resolve('mermaid/dist/mermaid.min.js');
const FONT = dejaVuFile('DejaVuSans');

let browser: Browser | undefined;
let next: Promise<Page> | undefined;
let files: Promise<[mermaid: string, font: string]> | undefined;

/** Starts it, and says whose process group it is. It talks through a pipe, which closes when this process dies. */
export async function startBrowser(file: string, folder: string): Promise<Pick<Ready, 'group' | 'isOpen'>> {
  // Its own walls need rights that root, and most containers, do not have. Through a pipe it does not say that it was these.
  if (process.getuid?.() !== 0) browser = await launch(file, folder).catch(() => undefined);
  const isOpen = browser === undefined;
  browser ??= await launch(file, folder, '--no-sandbox');
  const { pid } = browser.process() ?? {};
  if (pid === undefined) throw new Error('The browser has no process.');
  prepareNext();
  return { group: pid, isOpen };
}

/** Returns an unused page with Mermaid loaded. The next page is prepared in the background. */
export async function takePage(): Promise<Page> {
  // Concurrent callers get a page of their own.
  const page = next ?? prepare();
  next = undefined;
  return page;
}

export async function dropPage(page: Page): Promise<void> {
  await page.close();
  prepareNext();
}

/**
 * The next caller gets the error of a failed preparation; the process goes on, because the folder of a killed
 * browser still has to be removed.
 */
function prepareNext(): void {
  next ??= prepare();
  next.catch(() => undefined);
}

function launch(executablePath: string, userDataDir: string, ...more: string[]): Promise<Browser> {
  return puppeteer.launch({
    executablePath,
    userDataDir,
    pipe: true,
    headless: true,
    handleSIGINT: false,
    handleSIGTERM: false,
    handleSIGHUP: false,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: userDataDir, TMPDIR: userDataDir },
    args: [...FLAGS, ...more],
  });
}

async function prepare(): Promise<Page> {
  files ??= Promise.all([readFile(MERMAID, 'utf8'), readFile(FONT, 'base64')]);
  const [mermaid, font] = await files;
  const page = await browser!.newPage();
  await page.setRequestInterception(true);
  page.on('request', (request) => void allowOrAbort(request));
  await page.setContent(`<!doctype html><meta http-equiv="Content-Security-Policy" content="${POLICY}">
<style>@font-face { font-family: 'DejaVu Sans'; src: url(data:font/ttf;base64,${font}) }</style><body></body>`);
  await page.evaluate(mermaid);
  // Widths are measured with it.
  await page.evaluate('document.fonts.load(\'16px "DejaVu Sans"\').then(() => undefined)');
  return page;
}

function allowOrAbort(request: HTTPRequest): Promise<void> {
  const isInline = /^(about|data):/.test(request.url());
  return (isInline ? request.continue() : request.abort()).catch(() => undefined);
}
