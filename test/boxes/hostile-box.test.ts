// What a box may do to the head and to its lines if an attacker controls it: fill the memory and the disk.

import { expect, test } from 'bun:test'

import { timestamp } from '../../src/domain/ids.ts'
import type { LineEvent } from '../../src/lines/driver.ts'
import { NEVER } from '../../src/system/clock.ts'
import { HostileBox } from './hostile-box.ts'
import { Stage } from './stage.ts'

const MB = 1_000_000

/** An item of almost a megabyte, most of it in a field that nobody knows. */
function bigItem(seq: number) {
  const event = { type: 'checkpoint', checkpoint: String(seq), padding: 'p'.repeat(900_000) }
  return { type: 'event', event }
}

const checkpointsOf = (events: readonly object[]) =>
  events.flatMap((event) => ('checkpoint' in event ? [Number(event.checkpoint)] : []))

test('items that come too early wait up to a length, and come again in order', async () => {
  using stage = await Stage.running()
  const hostile = new HostileBox(stage.rig)
  await hostile.hello()
  const lines = []
  for (const key of ['a', 'b', 'c', 'd', 'e', 'f']) lines.push(await hostile.run(key, NEVER))
  const say = (session: string, seq: number) => hostile.item(session, seq, bigItem(seq))

  for (const session of hostile.sessions) {
    for (let seq = 2; seq <= 40; seq += 1) void say(session, seq)
  }
  await stage.clock.advance(0)
  const [first = ''] = hostile.sessions
  expect(stage.rig.fleet.waitingLength(hostile.id)).toBeGreaterThan(7 * MB)
  expect(stage.rig.fleet.waitingLength(hostile.id)).toBeLessThanOrEqual(8 * MB)
  void say(first, 1)
  await stage.clock.advance(0)
  expect(checkpointsOf(lines[0] ?? [])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
  const answers = []
  for (let seq = 1; seq <= 40; seq += 1) {
    const answer = say(first, seq)
    await stage.clock.advance(0)
    answers.push(await answer)
  }

  expect(answers).toEqual(answers.map(() => ({ isTaken: true })))
  expect(checkpointsOf(lines[0] ?? [])).toEqual(Array.from({ length: 40 }, (_, at) => at + 1))
  const sent = stage.line.send('hello')
  await stage.clock.advance(0)
  expect(sent.outcome?.outcome).toBe('accepted')
})

/** A message with files of these sizes, as the box says. */
function messageWith(sizes: readonly number[]) {
  const attachments = sizes.map((size, at) => ({
    guid: `F${at}`,
    filename: 'movie.mov',
    declaredType: null,
    size,
    file: { state: 'available', size },
  }))
  const message = {
    guid: 'M',
    handle: '+12025550777',
    text: 'hello',
    isFromMe: false,
    service: 'iMessage',
    at: timestamp(1_795_255_100_000),
    isHistory: false,
    attachments,
  }
  return { type: 'event', event: { type: 'message', message, checkpoint: '1' } }
}

const PIECE = { data: new Uint8Array(500_000).toBase64(), isLast: false }
const ENDS = [
  { name: 'sends more than it announced', answer: PIECE, asked: 3 },
  { name: 'sends pieces of nothing', answer: { data: '', isLast: false }, asked: 1 },
  { name: 'has no such file', answer: { isMissing: true }, asked: 1 },
] as const

for (const { name, answer, asked } of ENDS) {
  test(`a message arrives without its file if the box ${name}`, async () => {
    using stage = await Stage.open()
    const hostile = new HostileBox(stage.rig)
    hostile.file = () => answer
    await hostile.hello()
    const events = await hostile.run('a', NEVER)

    void hostile.item(hostile.sessions[0] ?? '', 1, messageWith([1_200_000]))
    await stage.clock.advance(0)

    expect(filesOf(events)).toEqual([{ state: 'missing' }])
    expect(hostile.filesAsked).toBe(asked)
  })
}

test('no piece is asked for of a file for which there is no room', async () => {
  using stage = await Stage.open()
  const hostile = new HostileBox(stage.rig)
  const looks: (readonly number[])[] = []
  stage.rig.takesFile = async (size, others) => {
    looks.push([size, others])
    return size + others <= 5 * MB
  }
  hostile.file = () => ({ isMissing: true })
  await hostile.hello()
  const events = await hostile.run('a', NEVER)

  const sizes = [900_000_000_000_000, 4 * MB, 2 * MB]
  void hostile.item(hostile.sessions[0] ?? '', 1, messageWith(sizes))
  await stage.clock.advance(0)

  expect(looks).toEqual([
    [900_000_000_000_000, 0],
    [4 * MB, 0],
    [2 * MB, 4 * MB],
  ])
  expect(filesOf(events)).toEqual([
    { state: 'not_kept' },
    { state: 'missing' },
    { state: 'not_kept' },
  ])
  expect(hostile.filesAsked).toBe(1)
})

test('a file whose pieces stop coming is given up after half an hour, and its message arrives', async () => {
  using stage = await Stage.open()
  const hostile = new HostileBox(stage.rig)
  hostile.file = ({ offset }) => (offset === 0 ? { data: 'AA==', isLast: false } : {})
  await hostile.hello()
  const events = await hostile.run('a', NEVER)
  const until = stage.clock.monotonic() + 29 * 60_000

  void hostile.item(hostile.sessions[0] ?? '', 1, messageWith([MB]))
  const goOn = async () => {
    await hostile.hello()
    await stage.clock.advance(5_000)
  }
  while (stage.clock.monotonic() < until) await goOn()
  expect(events).toEqual([])
  for (let i = 0; i < 13; i += 1) await goOn()

  expect(filesOf(events)).toEqual([{ state: 'missing' }])
})

function filesOf(events: readonly LineEvent[]) {
  const [event] = events
  if (event?.type !== 'message') throw new Error('No message came.')
  return event.message.attachments?.map(({ file }) => file)
}
