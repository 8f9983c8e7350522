export interface ServerSent {
  readonly id: string | undefined;
  /** Undefined for a comment, which only keeps the connection open. */
  readonly event: string | undefined;
  readonly data: string;
}

/** The server-sent events of an answer, as they come. */
export async function* serverSentEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<ServerSent> {
  const decoder = new TextDecoder();
  let unread = '';
  for await (const chunk of body) {
    const blocks = (unread + decoder.decode(chunk, { stream: true })).split('\n\n');
    unread = blocks.pop()!;
    yield* blocks.map(read);
  }
}

function read(block: string): ServerSent {
  const fields = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(': ');
      return [line.slice(0, colon), line.slice(colon + 2)] as const;
    }),
  );
  return { id: fields.get('id'), event: fields.get('event'), data: fields.get('data') ?? '' };
}
