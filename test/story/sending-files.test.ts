// A message with files is several messages on its device: each part is proven by itself, and the message
// says no more than is proven.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import type { MessageId } from '../../src/domain/ids.ts'
import type { Settlement } from '../../src/lines/driver.ts'
import { attachmentsOf } from '../../src/storage/attachments.ts'
import { copyDatabase, vanishes } from '../support/ended-relay.ts'
import { startRich, type RichRelay } from '../support/rich-relay.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ends, guidOf } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'

const TO = '+15550001234'
const KNOWN = '+15550009999'
const TEXT_GUID = guidOf(901)
const FILE_GUIDS = [guidOf(902), guidOf(903)]

/** The marks of a message's attachments, in its order. */
function marks({ db }: RichRelay, id: string): readonly (boolean | null)[] {
  return attachmentsOf(db, id as MessageId).map(({ isSent }) => isSent)
}

async function twoFiles(relay: RichRelay) {
  return [{ id: await relay.file('one') }, { id: await relay.file('two') }]
}

const wholly = { outcome: 'accepted', guid: TEXT_GUID, partGuids: FILE_GUIDS } as const

test('files go to the device with their bytes, in their order, and the text with them', async () => {
  await using relay = await startRich()
  const first = await relay.file('first', 'menu.txt')
  const second = await relay.file('second', 'map.txt')
  const attachments = [{ id: first }, { id: second }]

  const { status, body } = await relay.send({ to: TO, text: 'Our menu', attachments })

  expect([status, body.status, body.text]).toEqual([200, 'sent', 'Our menu'])
  const [sent] = relay.device.sent
  expect(sent?.text).toBe('Our menu')
  expect(sent?.attachments?.map(({ id, filename, size }) => [id, filename, size])).toEqual([
    [first, 'menu.txt', 5],
    [second, 'map.txt', 6],
  ])
  expect(sent?.attachments?.map(({ path }) => readFileSync(path, 'utf8'))).toEqual([
    'first',
    'second',
  ])
  expect(marks(relay, body.id)).toEqual([true, true])
  expect(await relay.eventNames()).toEqual(['message.sent'])
})

test('the rows of its other parts are no messages, and only their failure says something', async () => {
  await using relay = await startRich({ script: ends(wholly) })
  const { body } = await relay.send({ to: TO, text: 'hi', attachments: await twoFiles(relay) })
  const statusAfter = async (guid: string, kind: 'delivered' | 'failed') => {
    await relay.device.report(guid, kind, TEST_START + 1_000)
    return (await relay.message(body.id)).status
  }

  await relay.device.receive({ guid: FILE_GUIDS[0] ?? '', isFromMe: true })
  expect((await relay.get('/api/v1/messages')).data).toHaveLength(1)
  expect(await statusAfter(FILE_GUIDS[0] ?? '', 'delivered')).toBe('sent')
  expect(await statusAfter(FILE_GUIDS[1] ?? '', 'failed')).toBe('failed')
  expect((await relay.message(body.id)).error.code).toBe('partly_sent')
  expect(marks(relay, body.id)).toEqual([null, null])
})

test('a message is delivered when its last part is', async () => {
  await using relay = await startRich({ script: ends(wholly) })
  const { body } = await relay.send({ to: TO, text: 'hi', attachments: await twoFiles(relay) })

  await relay.device.report(TEXT_GUID, 'delivered', TEST_START + 1_000)

  expect((await relay.message(body.id)).status).toBe('delivered')
  expect(marks(relay, body.id)).toEqual([true, true])
})

test('a part that fails before the device has named its message makes it partly sent', async () => {
  await using relay = await startRich()
  relay.device.script = async (_message, pointOfNoReturn) => {
    await pointOfNoReturn('note')
    await relay.device.report(FILE_GUIDS[0] ?? '', 'failed', TEST_START)
    return wholly
  }

  const { body } = await relay.send({ to: TO, text: 'hi', attachments: await twoFiles(relay) })

  expect((await relay.message(body.id)).error.code).toBe('partly_sent')
})

test('the first message to a new contact needs a text beside its files, and later ones need none', async () => {
  await using relay = await startRich()
  const attachments = await twoFiles(relay)

  const first = await relay.send({ to: TO, attachments })
  const withText = await relay.send({ to: TO, text: 'hello', attachments })
  const after = await relay.send({ to: TO, attachments })

  expect([first.status, first.body.error.code]).toEqual([400, 'attachment_needs_text'])
  expect([withText.status, after.status]).toEqual([200, 200])
  expect(after.body.text).toBe('')
  expect(relay.device.given.map(({ text }) => text)).toEqual(['hello', ''])
})

test('a practice line takes files without a text for anyone', async () => {
  await using relay = await startRich({ kind: 'simulated' })

  expect((await relay.send({ to: TO, attachments: await twoFiles(relay) })).status).toBe(200)
})

test('what is no file is refused with its reason, and nothing of the message is kept', async () => {
  await using relay = await startRich()
  const id = await relay.file('here')
  const inState = async (state: string) => {
    const file = await relay.file(state)
    relay.db.sqlite.run(`UPDATE attachments SET state = '${state}' WHERE id = '${file}'`)
    return [{ id: file }]
  }
  const answers = [
    await relay.send({ to: TO, text: 'x', attachments: [{ id: 'att_nothing' }] }),
    await relay.send({ to: TO, text: 'x', attachments: await inState('pending') }),
    await relay.send({ to: TO, text: 'x', attachments: await inState('deleted') }),
    await relay.send({ to: TO, text: 'x', attachments: await inState('not_kept') }),
    await relay.send({ to: TO, text: 'x', attachments: [{ id }, { id }] }),
    await relay.send({ to: TO, text: 'x', attachments: [] }),
    await relay.send({
      to: TO,
      text: 'x',
      attachments: Array.from({ length: 11 }, () => ({ id })),
    }),
    await relay.send({ to: TO }),
  ]

  expect(answers.map(({ status, body }) => `${status} ${body.error.code}`)).toEqual([
    '404 attachment_not_found',
    '409 attachment_not_ready',
    '410 attachment_gone',
    '410 attachment_gone',
    ...Array(4).fill('400 invalid_request'),
  ])
  expect((await relay.get('/api/v1/messages')).data).toEqual([])
})

test('a file whose bytes are gone is refused, and one that goes before its turn fails its message', async () => {
  await using relay = await startRich()
  const attachments = await twoFiles(relay)
  await relay.device.goOffline()
  const queued = await relay.send({ to: TO, text: 'hi', attachments })

  relay.loseFiles()
  const late = await relay.send({ to: TO, text: 'hi', attachments })
  await relay.device.goOnline()
  await relay.clock.advance(1_000)

  expect([late.status, late.body.error.code]).toEqual([410, 'attachment_gone'])
  const { status, error } = await relay.message(queued.body.id)
  expect([status, error.code]).toEqual(['failed', 'attachment_missing'])
  expect(marks(relay, queued.body.id)).toEqual([false, false])
  expect(relay.device.given).toEqual([])
  expect(await relay.eventNames()).toEqual(['message.failed'])
})

test('a message that was sent in part has failed, says so, and its recipient is no stranger any more', async () => {
  await using relay = await startRich()
  const attachments = await twoFiles(relay)
  const sent = [attachments[0]?.id].flatMap((id) => id ?? [])
  relay.device.script = ends({ outcome: 'partly_sent', reason: 'send_timed_out', sent })

  const { status, body } = await relay.send({ to: TO, text: 'hi', attachments })
  await relay.clock.advance(60_000)

  expect([status, body.error.details.reason]).toEqual([422, 'partly_sent'])
  const { status: end, error } = await relay.message(body.error.details.message_id)
  expect([end, error.code]).toEqual(['failed', 'partly_sent'])
  expect(error.message).toContain('sending took too long')
  expect(marks(relay, body.error.details.message_id)).toEqual([true, false])
  expect(relay.device.given).toHaveLength(1)
  expect((await relay.lines())[0].new_contacts_today).toBe(1)
  // The next one finds a contact that is known.
  relay.device.script = ends({ outcome: 'accepted', guid: null })
  expect((await relay.send({ to: TO, attachments })).status).toBe(200)
})

test('of what is unknown the proven parts are marked, and nothing is sent again', async () => {
  await using relay = await startRich()
  const attachments = await twoFiles(relay)
  const sent = [attachments[0]?.id].flatMap((id) => id ?? [])
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown', sent })

  const { body } = await relay.send({ to: TO, text: 'hi', attachments })
  await relay.clock.advance(3_600_000)

  expect((await relay.message(body.id)).status).toBe('uncertain')
  expect(marks(relay, body.id)).toEqual([true, null])
  expect(relay.device.given).toHaveLength(1)
  expect(await relay.eventNames()).toEqual(['message.failed'])
})

test('files alone do not wait for other files that are uncertain', async () => {
  await using relay = await startRich()
  await relay.device.receive({ guid: guidOf(1), handle: KNOWN as never })
  relay.device.script = ends({ outcome: 'unknown', reason: 'outcome_unknown' })
  await relay.send({ to: KNOWN, attachments: await twoFiles(relay) })

  relay.device.script = ends({ outcome: 'accepted', guid: null })
  const { status } = await relay.send({ to: KNOWN, attachments: await twoFiles(relay) })

  expect(status).toBe(200)
})

test('what a device holds is proven part by part', async () => {
  await using relay = await startRich({
    script: ends({ outcome: 'held', guid: TEXT_GUID, partGuids: FILE_GUIDS }),
  })
  const sending = { to: TO, text: 'hi', attachments: await twoFiles(relay) }
  const first = await relay.send(sending, { Prefer: 'wait=0' })
  await relay.clock.advance(100)
  const held = marks(relay, first.body.id)

  await relay.device.report(TEXT_GUID, 'failed', TEST_START + 1_000, { reason: 'send_timed_out' })

  expect(held).toEqual([true, true])
  const { status, error } = await relay.message(first.body.id)
  expect([status, error.code]).toEqual(['failed', 'partly_sent'])
  expect(marks(relay, first.body.id)).toEqual([true, true])
})

/** Ends a relay in the middle of a send with two files, and starts another one on what it left. */
async function endInSend(folder: ScratchFolder) {
  const before = await startRich({ folder, path: folder.file('a.db'), script: vanishes })
  const attachments = await twoFiles(before)
  const asked = { to: TO, text: 'hi', attachments }
  const { body } = await before.send(asked, { Prefer: 'respond-async' })
  await before.clock.advance(10)
  copyDatabase(folder, 'a.db', 'b.db')
  const after = await startRich({ folder, before, path: folder.file('b.db') })
  const [one, two] = attachments
  return { after, id: body.id as MessageId, one: one?.id ?? '', two: two?.id ?? '' }
}

const PROVEN: Settlement = {
  outcome: 'not_sent',
  reason: 'not_carried',
  blame: 'line',
  proof: true,
}

type End = {
  readonly name: string
  readonly settled: (file: never) => Settlement
  readonly becomes: readonly [status: string, code: string | null]
  readonly marks: readonly (boolean | null)[]
}

const ENDS: readonly End[] = [
  {
    name: 'all of it was sent',
    settled: () => wholly,
    becomes: ['sent', null],
    marks: [true, true],
  },
  {
    name: 'one file was sent and the rest never will be',
    settled: (file) => ({ outcome: 'partly_sent', reason: 'not_carried', sent: [file] }),
    becomes: ['failed', 'partly_sent'],
    marks: [true, false],
  },
  {
    name: 'one file was sent and of the rest nobody knows',
    settled: (file) => ({ outcome: 'unknown', reason: 'outcome_unknown', sent: [file] }),
    becomes: ['uncertain', 'outcome_unknown'],
    marks: [true, null],
  },
  {
    name: 'nothing was sent, by all that can be seen',
    settled: () => ({ outcome: 'not_sent', reason: 'not_carried', blame: 'line' }),
    becomes: ['failed', 'not_carried'],
    marks: [false, false],
  },
  {
    name: 'nothing was sent, which is proven',
    settled: () => PROVEN,
    becomes: ['queued', null],
    marks: [null, null],
  },
]

for (const end of ENDS) {
  test(`after a crash: ${end.name}`, async () => {
    using folder = new ScratchFolder()
    const { after, id, one } = await endInSend(folder)
    await using relay = after
    const claimed = relay.device.attended[0]?.unsettled[0]?.message
    const found = marks(relay, id)

    await relay.device.settle(id, end.settled(one as never))

    const { status, error } = await relay.message(id)
    expect(claimed?.attachments?.map(({ filename }) => filename)).toEqual(['menu.txt', 'menu.txt'])
    expect(found).toEqual([null, null])
    expect([status, error?.code ?? null]).toEqual([...end.becomes])
    expect(marks(relay, id)).toEqual([...end.marks])
  })
}

test('a message of which a part is proven is never sent again, whatever is said of it later', async () => {
  using folder = new ScratchFolder()
  const { after, id, one } = await endInSend(folder)
  await using relay = after
  await relay.device.settle(id, {
    outcome: 'unknown',
    reason: 'outcome_unknown',
    sent: [one as never],
  })

  await relay.device.settle(id, PROVEN)
  await relay.clock.advance(60_000)

  const { status, error } = await relay.message(id)
  expect([status, error.code]).toEqual(['failed', 'partly_sent'])
  expect(marks(relay, id)).toEqual([true, false])
  expect(relay.device.given).toEqual([])
})

test('a message resolved by hand says so of all its parts', async () => {
  await using relay = await startRich({
    script: ends({ outcome: 'unknown', reason: 'outcome_unknown' }),
  })
  const { body } = await relay.send({ to: TO, text: 'hi', attachments: await twoFiles(relay) })

  await relay.post(`/api/v1/messages/${body.id}/resolve`, { status: 'sent' })

  expect(marks(relay, body.id)).toEqual([true, true])
})
