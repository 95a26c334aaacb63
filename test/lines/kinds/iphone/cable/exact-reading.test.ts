import { expect, test } from 'bun:test'
import { Duplex } from 'node:stream'

import {
  readExactly,
  StreamEndedError,
} from '../../../../../src/lines/kinds/iphone/cable/mux-connection.ts'

const NEVER = new AbortController().signal

/** A stream that gives what is pushed into it. */
function pushed(...pieces: readonly (string | null)[]): Duplex {
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() })
  for (const piece of pieces) stream.push(piece === null ? null : Buffer.from(piece))
  return stream
}

async function read(stream: Duplex, length: number, signal = NEVER): Promise<string> {
  return Buffer.from(await readExactly(stream, length, signal)).toString()
}

test('exactly so many bytes are read, from several pieces or from a part of one', async () => {
  const stream = pushed('ab', 'cdef', 'g')

  const parts = [await read(stream, 3), await read(stream, 0), await read(stream, 2)]
  const later = read(stream, 4)
  stream.push(Buffer.from('hi'))

  expect(parts).toEqual(['abc', '', 'de'])
  expect(await later).toBe('fghi')
})

test('a stream that ends before gives an error, and not the part that it had', async () => {
  const ended = [pushed('ab', null), pushed(null)]
  const destroyed = pushed('abc')
  destroyed.destroy()
  await new Promise((resolve) => destroyed.once('close', resolve))
  const failing = pushed('ab')
  failing.on('error', () => {})

  const readings = [...ended, destroyed, failing].map((stream) => read(stream, 3))
  failing.destroy(new Error('broken'))

  const results = await Promise.allSettled(readings)
  const reasons = results.map((one) => (one.status === 'rejected' ? one.reason : 'read'))
  expect(reasons.map((reason) => reason instanceof StreamEndedError)).toEqual(Array(4).fill(true))
})

test('one who leaves is not kept waiting, and no listener of the reading stays', async () => {
  const stream = pushed('ab')
  const leaving = new AbortController()

  const reading = read(stream, 3, leaving.signal).catch((error: unknown) => error)
  leaving.abort()

  expect(await reading).toBeInstanceOf(StreamEndedError)
  expect(read(pushed('abc'), 3, leaving.signal)).rejects.toBeInstanceOf(StreamEndedError)
  expect(['readable', 'end', 'close', 'error'].map((name) => stream.listenerCount(name))).toEqual([
    0, 0, 0, 0,
  ])
})
