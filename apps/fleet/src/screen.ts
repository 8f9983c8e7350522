/** Output for the person who started the fleet. */
export class Screen {
  private readonly forPeople = process.stdout.isTTY;

  say(line: string): void {
    process.stdout.write(`${line}\n`);
  }

  /** Prints a line of a child. JSON lines stay unchanged for programs. */
  childLine(name: string, line: string): void {
    process.stdout.write(this.forPeople ? `${name.padEnd(9)} ${line}\n` : `${line}\n`);
  }

  welcome(
    api: string,
    store: string,
    processes: readonly { name: string; pid: number | undefined; url: string }[],
    isOpen: boolean,
  ): void {
    const rows = processes.map(({ name, pid, url }) => `  ${name.padEnd(9)} ${url}  (pid ${pid})`);
    this.say(`
Mooring is ready.

  api       ${api}        docs: ${api}/docs
${rows.join('\n')}
  store     ${store}

${isOpen ? firstCall(api) : KEY_NEEDED}

Ctrl-C ends everything in order.
`);
  }
}

function firstCall(api: string): string {
  return `Try it: a job that runs for two seconds.

  curl -s ${api}/v1/jobs -H 'content-type: application/json' \\
    -d '{"kind":"probe","owners":["trip:42"],"payload":{"ms":2000}}'

Then read it, with the id from the answer:  curl -s ${api}/v1/jobs/<id>`;
}

const KEY_NEEDED = `Calls need a key: -H 'authorization: Bearer <key>'. The probe kind is offered with PROBE=on.`;
