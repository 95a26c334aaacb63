// When two posts of a shortcut are one message and when they are two, and whose words they are.

import { expect, test } from 'bun:test'

import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Answer, Json } from '../support/test-relay.ts'
import { FRIEND, eventsIn, NUMBER, startBridged } from './shortcuts-relay.ts'

type Box = Awaited<ReturnType<typeof startBridged>>

const STORED = [200, { stored: true }]

function outcomes(answers: readonly Answer[]) {
  return answers.map(({ status, body }) => [status, body])
}

async function listed({ relay }: Box): Promise<readonly Json[]> {
  const { data } = await relay.get('/api/v1/messages?direction=inbound')
  return data.toReversed().map(({ handle, text }: Json) => [handle, text])
}

/** What the line has left out: kinds, and how many of each. */
async function leftOut(box: Box) {
  const { not_relayed: counts } = await box.line()
  return Object.fromEntries(counts.map(({ kind, count }: Json) => [kind, count]))
}

test('an id that comes again is the same message if its content is the same, and another one if not', async () => {
  using folder = new ScratchFolder()
  await using box = await startBridged({ folder: folder.path })
  const { phone, clock } = box
  const photo = new File(['a picture'], 'IMG_1.HEIC')
  const posts = [
    { text: 'first' },
    { text: 'first', from: '+15550002222' },
    { text: 'second' },
    { text: 'first', attachment: photo },
    { text: 'first', attachment: new File(['another'], 'IMG_1.HEIC') },
  ]

  const answers: Answer[] = []
  for (const fields of [...posts, ...posts]) {
    answers.push(await phone.receiveForm({ id: 'x-1', ...fields }))
    await clock.advance(60_000)
  }

  expect(outcomes(answers)).toEqual(answers.map(() => STORED))
  expect(await listed(box)).toEqual([
    [FRIEND, 'first'],
    ['+15550002222', 'first'],
    [FRIEND, 'second'],
    [FRIEND, 'first'],
    [FRIEND, 'first'],
  ])
  expect(eventsIn(box.sink)).toEqual(posts.map(() => 'message.received'))
  expect(await leftOut(box)).toEqual({})
})

test('a message that an earlier version stored by its id alone is known when it comes again', async () => {
  using folder = new ScratchFolder()
  await using box = await startBridged({ folder: folder.path })
  const { phone, relay, clock } = box
  const photo = new File(['a picture'], 'IMG_1.HEIC')
  const first = { id: 'x-1', from: '(202) 555-0123', text: 'hello', attachment: photo }
  await phone.receiveForm(first)
  // What that version wrote: a guid of the id, and the number without its country.
  const guid = `shortcut-${new Bun.CryptoHasher('sha256').update('x-1').digest('hex').slice(0, 32)}`
  relay.db.sqlite.run('UPDATE known_guids SET guid = ?', [guid])
  relay.db.sqlite.run('UPDATE messages SET platform_guid = ?, handle = ?', [guid, '2025550123'])

  await clock.advance(60_000)
  await phone.receiveForm(first)
  const known = await listed(box)
  for (const other of [{ text: 'other' }, { from: FRIEND }, { attachment: new File(['b'], 'b') }]) {
    await phone.receiveForm({ ...first, ...other })
  }

  expect(known.length).toBe(1)
  expect((await listed(box)).length).toBe(4)
})

const TWICE: Readonly<Record<string, readonly [Json, Json, messages: number]>> = {
  'the same words within five seconds': [{}, { seconds: 4 }, 1],
  'the same words and the same date': [
    { at: '2026-11-21T09:59:00Z' },
    { at: '2026-11-21T09:59:00Z', seconds: 4 },
    1,
  ],
  'the same words six seconds apart': [{}, { seconds: 6 }, 2],
  'the same words with another date': [
    { at: '2026-11-21T09:59:00Z' },
    { at: '2026-11-21T09:59:01Z', seconds: 1 },
    2,
  ],
  'other words': [{}, { text: 'hello!', seconds: 1 }, 2],
  'another sender': [{}, { from: '+15550002222', seconds: 1 }, 2],
  'two messages without words, as two photos are': [{ text: '' }, { text: '', seconds: 1 }, 2],
}

test.each(Object.entries(TWICE))(
  'an automation that runs twice: %s',
  async (_case, [first, { seconds, ...second }, count]) => {
    await using box = await startBridged()
    const { phone, clock } = box

    const answers = [await phone.receive({ id: 'run-1', ...first })]
    await clock.advance(seconds * 1_000)
    answers.push(await phone.receive({ id: 'run-2', ...second }))
    await clock.advance(60_000)
    // Each run repeats its call, because the answer was lost.
    answers.push(await phone.receive({ id: 'run-2', ...second }))
    answers.push(await phone.receive({ id: 'run-1', ...first }))
    await clock.advance(1_000)

    expect(outcomes(answers)).toEqual(answers.map(() => STORED))
    expect(eventsIn(box.sink).length).toBe(count)
    expect(await leftOut(box)).toEqual(count === 1 ? { repeated: 1 } : {})
  },
)

test('of two runs at the same moment one is the message, and the health catalogue says so', async () => {
  await using box = await startBridged()

  const answers = await Promise.all(['1', '2', '3'].map((id) => box.phone.receive({ id })))

  const { data } = await box.relay.get('/api/v1/health')
  expect(outcomes(answers)).toEqual(answers.map(() => STORED))
  expect(await listed(box)).toEqual([[FRIEND, 'hello']])
  expect(data.find(({ code }: Json) => code === 'messages_repeated')).toMatchObject({
    severity: 'info',
    why: expect.stringContaining(': 2. '),
  })
})

test('a run whose message could not be stored is no reason to leave out the next one', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const text = 'x'.repeat(15_000)
  relay.fillDisk()

  const refused = await phone.receive({ id: '1', text })
  relay.freeDisk()
  await clock.advance(4_000)
  const stored = await phone.receive({ id: '2', text })
  const again = await phone.receive({ id: '1', text })

  expect([refused, stored, again].map(({ status }) => status)).toEqual([503, 200, 200])
  expect((await listed(box)).length).toBe(1)
  expect(await leftOut(box)).toEqual({ repeated: 1 })
})

test('a run whose second try is stored is the message, and the other run is counted', async () => {
  await using box = await startBridged()
  const { relay, phone, clock } = box
  const text = 'x'.repeat(15_000)
  relay.fillDisk()

  await phone.receive({ id: '1', text })
  relay.freeDisk()
  await clock.advance(2_000)
  const answers = [await phone.receive({ id: '1', text }), await phone.receive({ id: '2', text })]

  expect(outcomes(answers)).toEqual([STORED, STORED])
  expect((await listed(box)).length).toBe(1)
  expect(await leftOut(box)).toEqual({ repeated: 1 })
})

test("what comes from the line's own number is left out, in any spelling", async () => {
  await using box = await startBridged()
  const spellings = [NUMBER, '(202) 555-0147', 'tel:+1-202-555-0147', '\u202a+1 202 555 0147\u202c']

  const answers = await Promise.all(
    spellings.map((from, index) => box.phone.receive({ id: `${index}`, from, text: `${index}` })),
  )
  await box.clock.advance(1_000)

  expect(outcomes(answers)).toEqual(spellings.map(() => STORED))
  expect(await listed(box)).toEqual([])
  expect(eventsIn(box.sink)).toEqual([])
  expect(await leftOut(box)).toEqual({ own: 4 })
})

const RECIPIENTS: Readonly<Record<string, readonly [recipients: string | null, isGroup: boolean]>> =
  {
    'a group with the line in it': [`${NUMBER}\n+15550002222`, true],
    'a group without the line in it': ['+15550002222\nAnn Miller\n', true],
    'the line alone': [NUMBER, false],
    'the line in two spellings': [`${NUMBER}\n(202) 555-0147`, false],
    'the line and the sender': [`${NUMBER}\n${FRIEND}`, false],
    'an address of the owner': ['owner@example.com', false],
    nobody: ['', false],
    'no list': [null, false],
  }

test.each(Object.entries(RECIPIENTS))(
  'the recipients say whether it is a message of a group: %s',
  async (_case, [recipients, isGroup]) => {
    await using box = await startBridged()

    const answer = await box.phone.receive({ recipients })

    expect(outcomes([answer])).toEqual([STORED])
    expect((await listed(box)).length).toBe(isGroup ? 0 : 1)
    expect(await leftOut(box)).toEqual(isGroup ? { group: 1 } : {})
  },
)
