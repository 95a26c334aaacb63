// What both sides check of a request, an answer and a note.

import { expect, test } from 'bun:test'

import { LinkError, PAYLOAD_BYTES_MAX } from '../../src/boxes/link.ts'
import {
  ask,
  isNewer,
  readBoxNote,
  type Request,
  serve,
  writeBoxNote,
} from '../../src/boxes/wire.ts'
import { messageOf } from '../lines/supervisor-rig.ts'
import { MemoryNetwork } from '../support/memory-link.ts'
import { TestClock } from '../support/test-clock.ts'

const SUBJECT = 'hl.1.up.1.box_1'

function network() {
  const clock = new TestClock()
  const link = new MemoryNetwork(clock).link()
  return { clock, link, address: { link, subject: SUBJECT, timeoutMs: 1_000 } }
}

test('a request of the wrong form is not sent, and one that comes gets no answer', async () => {
  const { clock, link, address } = network()
  const passed: unknown[] = []
  serve(
    link,
    SUBJECT,
    {
      pass: async (request, box) => {
        passed.push([request, box])
        return { isGranted: true }
      },
    },
    4,
  )
  const request = { session: '1.1', send: 1, note: null }

  expect(await ask(address, 'pass', request)).toEqual({ isGranted: true })
  expect(ask(address, 'pass', { ...request, session: 'x' })).rejects.toThrow('wrong form')
  expect(ask(address, 'pass', { ...request, note: 'n'.repeat(16_001) })).rejects.toThrow(
    'wrong form',
  )
  const raw = { op: 'pass', session: '1.1', send: -1, note: null }
  const asked = link.ask(SUBJECT, JSON.stringify(raw), 1_000)
  asked.catch(() => {})
  await clock.advance(1_000)
  expect(asked).rejects.toThrow(LinkError)
  expect(passed).toEqual([[{ op: 'pass', ...request }, 'box_1'] as never])
})

test('fields that this version does not know are ignored, and an unknown operation has an answer', async () => {
  const { link } = network()
  serve(link, SUBJECT, { ping: async () => ({}) })
  const known = JSON.stringify({ op: 'ping', later: [1, 2] })
  const unknown = JSON.stringify({ op: 'later' })

  expect(await link.ask(SUBJECT, known, 1_000)).toBe('{}')
  expect(await link.ask(SUBJECT, unknown, 1_000)).toBe('{"isUnknown":true}')
  expect(await link.ask(SUBJECT, 'no JSON', 1_000)).toBe('{"isUnknown":true}')
})

test('an answer of the wrong form is none', async () => {
  const { link, address } = network()
  link.serve(SUBJECT, async () => '{"isGranted":"yes"}')

  const asked = ask(address, 'pass', { session: '1.1', send: 1, note: null })

  expect(asked).rejects.toThrow(LinkError)
})

test('a request that is longer than a payload is refused', () => {
  const { address } = network()
  const messages = Array.from({ length: 10_000 }, (_, place) => {
    return messageOf(`${place}${'ü'.repeat(90)}`).id
  })
  const request: Request<'end'> = { session: '1.1', kind: 'mac', key: '1', boot: 'b', messages }

  expect(JSON.stringify(request).length).toBeLessThan(2 * PAYLOAD_BYTES_MAX)
  expect(ask(address, 'end', request)).rejects.toThrow('too long')
})

test('a note of a box is read back, and any other is none', () => {
  const note = { box: 'box_1', boot: 'b', session: '1.1', note: '{"of":"the driver"}' }

  expect(readBoxNote(writeBoxNote(note))).toEqual(note)
  expect([null, '', 'raw', '{}', '{"box":1}'].map(readBoxNote)).toEqual(Array(5).fill(null))
})

test('sessions are compared by epoch, then by count', () => {
  const pairs = [
    ['1.2', '1.1'],
    ['2.1', '1.9'],
    ['1.10', '1.9'],
    ['1.1', '1.1'],
    ['1.9', '2.1'],
  ] as const

  expect(pairs.map(([one, other]) => isNewer(one, other))).toEqual([true, true, true, false, false])
})
