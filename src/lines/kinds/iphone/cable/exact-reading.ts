import type { Duplex } from 'node:stream'

/** The stream ended, or was aborted, before all was there. */
export class StreamEndedError extends Error {
  override readonly name = 'StreamEndedError'
}

/**
 * The next `length` bytes of `stream`, and none beyond them: what follows stays in the stream, for
 * whoever reads next. Rejects with a `StreamEndedError` where the stream ends or fails before, or
 * `signal` aborts; the stream is then of no more use.
 */
export function readExactly(
  stream: Duplex,
  length: number,
  signal: AbortSignal,
): Promise<Uint8Array> {
  if (length === 0) return Promise.resolve(new Uint8Array())
  return new Promise((resolve, reject) => {
    const settle = (act: () => void) => {
      stream.off('readable', look)
      for (const name of ['end', 'close', 'error']) stream.off(name, fail)
      signal.removeEventListener('abort', fail)
      act()
    }
    const fail = () => settle(() => reject(new StreamEndedError('The connection ended.')))
    const look = () => {
      // Where fewer bytes are there and the stream has ended, it gives those.
      const bytes: unknown = stream.read(length)
      if (bytes instanceof Uint8Array && bytes.byteLength < length) fail()
      else if (bytes instanceof Uint8Array) settle(() => resolve(bytes))
    }
    stream.on('readable', look)
    for (const name of ['end', 'close', 'error']) stream.on(name, fail)
    signal.addEventListener('abort', fail)
    if (signal.aborted || stream.destroyed) fail()
    else look()
  })
}
