import type { Given, OptionSpecs } from './arguments.js';
import { WrongUsage } from './problems.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

/** What every command takes. */
export const GLOBAL_OPTIONS: OptionSpecs = {
  url: { value: '<url>', says: `where the api is; else MOORING_URL, else ${DEFAULT_URL}` },
  key: {
    value: '<key>',
    says: 'the key it asks for; else MOORING_KEY, which other users of this machine cannot see',
  },
  json: { says: 'the answer as JSON, for a machine' },
  help: { says: 'what a command does and takes' },
  version: { says: 'which version this is' },
};

export interface Settings {
  readonly url: string;
  readonly key: string | undefined;
}

/** Which api, and with which key: the options count before the environment; an empty variable counts as unset. */
export function readSettings(given: Given, env: NodeJS.ProcessEnv): Settings {
  const fromOption = given.text('url');
  const url = fromOption ?? (env['MOORING_URL']?.trim() || DEFAULT_URL);
  return {
    url: checkUrl(url, fromOption === undefined ? 'MOORING_URL' : '--url'),
    key: checkKey(given.text('key') ?? (env['MOORING_KEY']?.trim() || undefined)),
  };
}

function checkUrl(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new WrongUsage(`${where} is an address such as ${DEFAULT_URL}; got "${text}".`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new WrongUsage(`${where} is only an address; the key goes into MOORING_KEY.`);
  }
  return url.href.replace(/\/+$/, '');
}

function checkKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key;
  // Not shown: it would end up in a log.
  throw new WrongUsage('The key has characters that no key has, such as a blank or a line end.');
}
