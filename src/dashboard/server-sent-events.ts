// Server-sent events out of the body of a `fetch`, because an EventSource cannot send a header.

export type ServerSentEvent = {
  readonly name: string
  readonly id: string
  readonly data: string
}

/** Each event as soon as it is whole; `onBytes` hears of every sign of life. Ends with the body. */
export async function* serverSentEvents(
  body: ReadableStream<Uint8Array>,
  onBytes: () => void,
): AsyncGenerator<ServerSentEvent, undefined> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      onBytes()
      text += decoder.decode(value, { stream: true })
      const blocks = text.split('\n\n')
      text = blocks.pop() ?? ''
      yield* blocks.map(eventIn).filter((event) => event !== null)
    }
  } finally {
    // A body that broke off has nothing left to cancel.
    await reader.cancel().catch(() => {})
  }
}

/** Null for a comment, and for the time to wait before one comes back. */
function eventIn(block: string): ServerSentEvent | null {
  const lines = block.split('\n')
  const field = (name: string) =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)
  const name = field('event')
  return name === undefined ? null : { name, id: field('id') ?? '', data: field('data') ?? '' }
}
