// What comes up from a box: in order, each once, with files, and nothing that could stop the line.

import { expect, test } from 'bun:test'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'

import { SUBJECTS } from '../../src/boxes/link.ts'
import type { AttachmentId } from '../../src/domain/ids.ts'
import type { DeviceMessage, LineEvent } from '../../src/lines/driver.ts'
import { NEVER } from '../../src/system/clock.ts'
import { sha256 } from '../../src/system/hash.ts'
import { messageOf } from '../lines/supervisor-rig.ts'
import { BOX } from '../support/box-rig.ts'
import { eventually } from '../support/eventually.ts'
import { Stage } from './stage.ts'

const MEGABYTE = 1_048_576

function bytesOf(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, place) => (place * 7 + (place >> 9)) % 251)
}

/** Every third answer with a piece is lost. */
function losePieces(stage: Stage): void {
  let pieces = 0
  stage.rig.network.loses = ({ direction, text }) =>
    direction === 'answer' && text.startsWith('{"data"') && pieces++ % 3 === 0
}

function guidsOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'message' ? [event.message.guid] : []))
}

/** Moves the clock on until a promise is settled: real files take their own time, which the clock does not know. */
async function carried<T>(stage: Stage, done: Promise<T>): Promise<T> {
  let isOver = false
  const over = () => (isOver = true)
  done.then(over, over)
  await stage.clock.advance(60_000)
  await eventually('the files are carried', async () => {
    if (!isOver) await stage.clock.advance(5_000)
    return isOver ? true : null
  })
  return done
}

test('a file of 3 MB comes up whole, before its event, through a link that loses pieces', async () => {
  using stage = await Stage.running()
  const bytes = bytesOf(3 * MEGABYTE)
  const path = stage.rig.folder.file('movie.mov')
  writeFileSync(path, bytes)
  const got: { path: string; hash: string }[] = []
  stage.line.gate.take = async (event) => {
    if (event.type !== 'message') return
    for (const { file } of event.message.attachments ?? []) {
      if (file.state !== 'available') throw new Error('The file is not here.')
      got.push({ path: file.path, hash: sha256(readFileSync(file.path)).toHex() })
    }
  }
  losePieces(stage)
  const available = { state: 'available', path } as const
  const file = { guid: 'F', filename: 'movie.mov', declaredType: null, size: null, file: available }

  const received = stage.device.receive({ guid: 'with', attachments: [file] })
  const behind = stage.device.receive({ guid: 'behind' })
  await carried(stage, Promise.all([received, behind]))

  expect(guidsOf(stage.line.events)).toEqual(['with', 'behind'])
  expect(got.map(({ hash }) => hash)).toEqual([sha256(bytes).toHex()])
  expect(got[0]?.path).not.toBe(path)
  expect(existsSync(got[0]?.path ?? '')).toBe(false)
})

test('a file of 3 MB goes down whole, and one with other bytes is refused', async () => {
  using stage = await Stage.running()
  const bytes = bytesOf(3 * MEGABYTE)
  const path = stage.rig.folder.file('menu.pdf')
  writeFileSync(path, bytes)
  const hashes: string[] = []
  stage.device.script = async ({ attachments = [] }, pass) => {
    for (const file of attachments) hashes.push(sha256(readFileSync(file.path)).toHex())
    await pass(null)
    return { outcome: 'accepted', guid: 'G' }
  }
  losePieces(stage)
  const id = 'att_menu' as AttachmentId // Drivers take an id as it is.
  const facts = { id, path, filename: 'menu.pdf', mimeType: 'application/pdf', size: bytes.length }
  const whole = { ...facts, sha256: sha256(bytes).toHex() }
  const other = { ...facts, sha256: sha256('other').toHex() }

  const sends = [whole, other].map((file, place) =>
    stage.line
      .session()
      .send({ ...messageOf(`m${place}`), attachments: [file] }, async () => true, NEVER),
  )
  const outcomes = await carried(stage, Promise.all(sends))

  expect(hashes).toEqual([whole.sha256])
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['accepted', 'not_sent'])
  expect(outcomes[1]).toMatchObject({ reason: 'attachment_missing', blame: 'message' })
  expect(readdirSync(stage.rig.outgoingFolder())).toEqual([])
})

test('a box gets no file but those of messages that it was given, and has no session of another box', async () => {
  using stage = await Stage.running()
  const ask = async (box: string, request: object) => {
    const subject = SUBJECTS.up('1', box)
    return JSON.parse(await stage.rig.network.link().ask(subject, JSON.stringify(request), 1_000))
  }
  const file = { op: 'outgoing_file', send: 1, sha256: 'a'.repeat(64), offset: 0 }
  const item = { type: 'event', event: { type: 'checkpoint', checkpoint: 'x' } }

  const answers = [
    await ask(BOX, { ...file, session: '1.1' }),
    await ask('box_00000000000000000000000001', { op: 'item', session: '1.1', seq: 2, item }),
  ]

  expect(answers).toEqual([{ isMissing: true }, { isOver: true }])
  expect(stage.line.events.map(({ type }) => type)).toEqual(['online'])
})

test('events whose answers are lost come once, and in order', async () => {
  using stage = await Stage.running()
  let passing = 0
  stage.rig.network.loses = ({ text }) =>
    (text.includes('isTaken') || text.includes('"item"')) && passing++ % 3 === 0

  const guids = Array.from({ length: 200 }, (_, place) => `m${place}`)
  const received = guids.map((guid) => stage.device.receive({ guid }))
  await stage.clock.advance(120_000)
  await Promise.all(received)

  expect(guidsOf(stage.line.events)).toEqual(guids)
})

test('an event is taken only when those of the turn before are durable', async () => {
  using stage = await Stage.running()
  const first = Promise.withResolvers<void>()
  stage.line.gate.take = (event) => (event.type === 'message' ? first.promise : Promise.resolve())

  const one = stage.device.receive({ guid: 'one' })
  one.catch(() => {})
  await stage.clock.advance(0)
  const two = stage.device.receive({ guid: 'two' })
  two.catch(() => {})
  await stage.clock.advance(0)
  expect(guidsOf(stage.line.events)).toEqual(['one'])
  first.reject(new Error('The disk is full.'))
  await stage.clock.advance(1_000)

  expect(guidsOf(stage.line.events)).toEqual(['one'])
  expect(one).rejects.toThrow('The session is over.')
  expect(two).rejects.toThrow('The session is over.')
  expect(String(await stage.line.ended)).toContain('The disk is full.')
})

test('lists of the relay that are longer than a payload come in pages', async () => {
  using stage = await Stage.open()
  const text = 'ü'.repeat(20_000)
  const unsettled = Array.from({ length: 120 }, (_, place) => ({
    message: { ...messageOf(`m${place}`), text },
    note: null,
  }))
  const open = Array.from({ length: 40_000 }, (_, place) => ({ guid: `guid-${place}`, note: null }))
  const awaited = [{ messageGuid: 'M', attachmentGuid: 'A' }]

  await stage.run({ unsettled, open, awaited })
  await stage.clock.advance(100)

  const [line] = stage.device.attended
  expect(line?.unsettled.map(({ message }) => message.id)).toEqual(
    unsettled.map(({ message }) => message.id),
  )
  expect(line?.unsettled[119]?.message.text).toBe(text)
  expect([line?.open, line?.awaited]).toEqual([open, awaited])
})

test('a text is cut to what the relay keeps, and a message that does not fit is left out and counted', async () => {
  using stage = await Stage.running()
  const long = { guid: 'long', text: 'x'.repeat(2_000_000) }
  const odd: Partial<DeviceMessage> & { guid: string } = { guid: 'odd', service: 's'.repeat(5_000) }

  await Promise.all([stage.device.receive(long), stage.device.receive(odd)])

  const [, message, leftOut] = stage.line.events
  expect(message).toMatchObject({ type: 'message', message: { text: 'x'.repeat(20_000) } })
  expect(leftOut).toMatchObject({
    type: 'left_out',
    leftOut: { guid: 'odd', kind: 'not_understood' },
  })
  expect(leftOut).toMatchObject({ checkpoint: 'odd' })
})
