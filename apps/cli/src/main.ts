import { readFileSync } from 'node:fs';
import { cli } from './cli.js';

/** The command line: talks to an api by HTTP, and loads nothing that it does not need for that. */
const { env, stdout, stderr } = process;
process.exitCode = await cli(process.argv.slice(2), { env, stdout, stderr, version: ownVersion() });

function ownVersion(): string {
  const text = readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8');
  return (JSON.parse(text) as { version: string }).version;
}
