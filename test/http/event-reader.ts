import type { Json } from '../support/test-relay.ts'

export type StreamedEvent = { readonly event: string; readonly id: string; readonly data: Json }

type Reader = {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | string | undefined }>
  cancel(): Promise<void>
}

/** Reads a stream of server-sent events in the background, as a browser does. */
export class EventReader {
  readonly response: Response
  readonly #reader: Reader
  #text = ''
  #isOver = false

  constructor(response: Response) {
    if (response.body === null) throw new Error('There is no stream.')
    this.response = response
    // Within the process a stream of texts stays one of texts.
    this.#reader = (response.body as ReadableStream<Uint8Array | string>).getReader()
    void this.#read()
  }

  /** Whether the stream has ended. */
  get isOver(): boolean {
    return this.#isOver
  }

  /** What came since this was asked last, as it stands on the wire. */
  takeText(): string {
    const text = this.#text
    this.#text = ''
    return text
  }

  /** The events that came since this was asked last. */
  take(): readonly StreamedEvent[] {
    return this.takeText().split('\n\n').flatMap(eventIn)
  }

  /** What changed since this was asked last: the kind, and how often. */
  takeKinds(): readonly string[] {
    return this.take().map(({ event, data }) => (event === 'change' ? data.what : event))
  }

  async close(): Promise<void> {
    await this.#reader.cancel()
  }

  async #read(): Promise<void> {
    const decoder = new TextDecoder()
    for (;;) {
      const { done, value } = await this.#reader.read()
      if (done) break
      this.#text += typeof value === 'string' ? value : decoder.decode(value, { stream: true })
    }
    this.#isOver = true
  }
}

function eventIn(block: string): readonly StreamedEvent[] {
  const field = (name: string) =>
    block
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2)
  const event = field('event')
  if (event === undefined) return []
  return [{ event, id: field('id') ?? '', data: JSON.parse(field('data') ?? 'null') }]
}
