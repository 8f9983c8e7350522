export interface ServerSent {
  readonly id: string | undefined;
  readonly name: string;
  readonly data: unknown;
}

/** The server-sent events of an answer, as they come. `fetch` reads them, because `EventSource` cannot send a key. */
export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSent> {
  const decoder = new TextDecoder();
  const reader = body.getReader();
  let unread = '';
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      const blocks = (unread + decoder.decode(value, { stream: true })).split('\n\n');
      unread = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = read(block);
        if (event) yield event;
      }
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}

/** A block without an event keeps the connection open, or says when to come back. */
function read(block: string): ServerSent | undefined {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)];
    }),
  );
  const name = fields.get('event');
  return name === undefined
    ? undefined
    : { id: fields.get('id'), name, data: JSON.parse(fields.get('data') ?? '{}') };
}
