import { runScript, Script } from '#scripts';
import type { Cluster, Redis } from 'ioredis';
import { readdirSync, readFileSync } from 'node:fs';

export type ScriptArgs = readonly (string | number)[];

const SHARED = new URL('scripts/', import.meta.url);

/**
 * The Lua files of a folder, and those of the kit (`take`, `clock`, `root`). They are read at the start, so a missing file fails
 * it. A line `--- @include name` stands for the text of that file.
 */
export class LuaScripts {
  private readonly texts: ReadonlyMap<string, string>;
  private readonly scripts: ReadonlyMap<string, Script>;

  /** @param module the `import.meta.url` of a file beside the folder `scripts` */
  constructor(module: string) {
    this.texts = new Map([...filesIn(SHARED), ...filesIn(new URL('scripts/', module))]);
    this.scripts = new Map([...this.texts.keys()].map((name) => [name, new Script(this.text(name))]));
  }

  run(
    redis: Redis | Cluster,
    name: string,
    keys: readonly string[],
    args: ScriptArgs = [],
  ): Promise<unknown> {
    const script = this.scripts.get(name);
    if (!script) throw new Error(`There is no script ${name}.lua.`);
    return runScript(redis, script, keys, args);
  }

  /** A script with what it includes. `replace` may change each file's text, as the tests of scripts do. */
  text(name: string, replace = (text: string, _file: string): string => text): string {
    const text = replace(this.file(name), name);
    return text.replace(/^--- @include (\w+)$/gm, (_, piece: string) => this.text(piece, replace));
  }

  private file(name: string): string {
    const text = this.texts.get(name);
    if (text === undefined) throw new Error(`There is no file ${name}.lua.`);
    return text;
  }
}

function filesIn(folder: URL): [string, string][] {
  return readdirSync(folder)
    .filter((file) => file.endsWith('.lua'))
    .map((file) => [file.slice(0, -'.lua'.length), readFileSync(new URL(file, folder), 'utf8')]);
}
