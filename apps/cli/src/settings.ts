import type { ParsedArgs, OptionSpecs } from './arguments.js';
import { WrongUsage } from './problems.js';

const DEFAULT_URL = 'http://127.0.0.1:3000';

/** Options that every command accepts. */
export const GLOBAL_OPTIONS: OptionSpecs = {
  url: { value: '<url>', description: `address of the API; default MOORING_URL, then ${DEFAULT_URL}` },
  key: {
    value: '<key>',
    description: 'API key; default MOORING_KEY, which other users of this machine cannot see',
  },
  json: { description: 'print the answer as JSON' },
  help: { description: 'show help for a command' },
  version: { description: 'print the version' },
};

export interface Settings {
  readonly url: string;
  readonly key: string | undefined;
}

/** Options take precedence over the environment. An empty variable counts as unset. */
export function readSettings(parsed: ParsedArgs, env: NodeJS.ProcessEnv): Settings {
  const fromOption = parsed.text('url');
  const url = fromOption ?? (env['MOORING_URL']?.trim() || DEFAULT_URL);
  return {
    url: checkUrl(url, fromOption === undefined ? 'MOORING_URL' : '--url'),
    key: checkKey(parsed.text('key') ?? (env['MOORING_KEY']?.trim() || undefined)),
  };
}

function checkUrl(text: string, where: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new WrongUsage(`${where} must be a URL such as ${DEFAULT_URL}; got "${text}".`);
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new WrongUsage(`${where} must not contain credentials or a query; put the key into MOORING_KEY.`);
  }
  return url.href.replace(/\/+$/, '');
}

function checkKey(key: string | undefined): string | undefined {
  if (key === undefined || /^[\x21-\x7e]+$/.test(key)) return key;
  // The message omits the key, because it may end up in a log.
  throw new WrongUsage('The key contains invalid characters, such as a space or a line break.');
}
