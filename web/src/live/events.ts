// Server-sent events (WHATWG HTML, section 9.2): the data of each event, whatever pieces the bytes arrive in.

// Takes texts in pieces; returns the data of the events that are complete.
export class EventParser {
  private rest = '';
  private data: string[] = [];

  feed(piece: string): string[] {
    const events: string[] = [];
    const text = this.rest + piece;
    // A final \r may be the first half of \r\n: it waits for the next piece.
    const lines = text.split(/\r\n|\n|\r(?!$)/);
    this.rest = lines.pop()!;
    for (const line of lines) {
      if (line === '') {
        if (this.data.length > 0) events.push(this.data.join('\n'));
        this.data = [];
      } else if (line.startsWith('data:')) {
        this.data.push(line.slice(line.startsWith('data: ') ? 6 : 5));
      }
    }
    return events;
  }
}

export async function* readEvents(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  const reader = body.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      yield* parser.feed(done ? decoder.decode() + '\n\n' : decoder.decode(value, { stream: true }));
      if (done) return;
    }
  } finally {
    reader.cancel().catch(() => undefined);
  }
}
