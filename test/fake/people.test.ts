// People by script: who answers what, and files of people that make no sense.

import { expect, test } from 'bun:test'

import { readPeopleFile } from '../../src/fake/people-file.ts'
import { hookline } from '../support/command-line.ts'
import { startFake, type FakeRelay } from '../support/fake-relay.ts'
import { blocks } from '../support/guide-recipes.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import type { Json } from '../support/test-relay.ts'

const ANN = '+12025550147'
const BEN = '+12025550148'

async function startWith(people: object): Promise<FakeRelay> {
  const fake = await startFake()
  const answer = await fake.call('PUT', '/api/v1/simulated/people', people)
  if (answer.status !== 200) throw new Error(answer.text)
  return fake
}

/** What the relay received, oldest first. */
async function received(fake: FakeRelay): Promise<readonly string[]> {
  const { data } = await fake.get('/api/v1/messages?type=all&direction=inbound')
  return data.map(({ text }: Json) => text).toReversed()
}

test('a person answers what the text asks, after a while, and goes on to another state', async () => {
  await using fake = await startWith({
    people: [
      {
        number: ANN,
        answers: [
          { contains: 'tuesday', state: 'start', say: 'Yes', after_seconds: 60, go_to: 'booked' },
          { state: 'booked', matches: '^see you\\b', react: 'love' },
          { equals: 'hello?', times: 1, say: 'Hi' },
        ],
      },
    ],
  })

  await fake.send({ to: ANN, text: 'Is Tuesday fine?' })
  await fake.advance('59s')
  const tooEarly = await received(fake)
  await fake.advance('5s')
  const inTime = await received(fake)
  for (const text of ['Tuesday again?', 'See you.', 'Hello?', 'Hello?']) {
    await fake.send({ to: ANN, text })
  }
  await fake.advance('10s')
  const { data } = await fake.get(`/api/v1/simulated/outbox?to=${ANN}`)

  expect([tooEarly, inTime, await received(fake)]).toEqual([[], ['Yes'], ['Yes', 'Hi']])
  expect(data.map(({ text, state, reactions }: Json) => [text, state, reactions])).toEqual([
    ['Is Tuesday fine?', 'read', []],
    ['Tuesday again?', 'read', []],
    ['See you.', 'read', [{ from: ANN, reaction: 'love', emoji: null }]],
    ['Hello?', 'read', []],
    ['Hello?', 'read', []],
  ])
})

test('people opt out, send files, and can be out of reach, while digits keep their meaning', async () => {
  await using fake = await startWith({
    people: [
      { number: ANN, receipts: 'delivered', answers: [{ say: 'STOP' }] },
      { number: BEN, answers: [{ say: 'The menu', files: [{ kind: 'pdf' }], reply: true }] },
      { number: '+12025550149', reach: 'nothing' },
      { number: '+12025550150', reach: 'sms', answers: [{ say: 'By SMS' }] },
      { number: '*', answers: [{ say: 'Who is this?' }] },
    ],
  })
  const to = [ANN, BEN, '+12025550149', '+12025550150', '+12025550151', '+12025550191']
  for (const one of to) await fake.send({ to: one, text: 'Hello', service: 'auto' })

  await fake.advance('10s')
  const { data: inbound } = await fake.get('/api/v1/messages?direction=inbound')
  const { data: outbox } = await fake.get('/api/v1/simulated/outbox')
  const again = await fake.call('POST', '/api/v1/messages/send', { to: ANN, text: 'Still there?' })

  const files = inbound.flatMap(({ attachments = [] }: Json) => attachments)
  expect(inbound.map(({ from, text }: Json) => `${from} ${text}`).toSorted()).toEqual([
    `${ANN} STOP`,
    `${BEN} The menu`,
    '+12025550150 By SMS',
    '+12025550151 Who is this?',
  ])
  expect(files.map(({ filename }: Json) => filename)).toEqual(['Menu.pdf'])
  expect(outbox.map(({ to: whom, service, state }: Json) => [whom, service, state])).toEqual([
    [ANN, 'iMessage', 'delivered'],
    [BEN, 'iMessage', 'read'],
    ['+12025550150', 'SMS', 'sent'],
    ['+12025550151', 'iMessage', 'read'],
    ['+12025550191', 'iMessage', 'delivered'],
  ])
  expect(again.body.error.code).toBe('recipient_opted_out')
})

test('a group argues: its members write by themselves, and each answers there in their own way', async () => {
  await using fake = await startFake()
  const { data: lines } = await fake.get('/api/v1/phone-lines')
  await fake.call('PATCH', `/api/v1/phone-lines/${lines[0].id}`, { relay_groups: true })
  const group = { identifier: 'chat7', name: 'Dinner', participants: [ANN, BEN] }
  await fake.call('PUT', '/api/v1/simulated/people', {
    groups: [group],
    starts: [
      { from: ANN, group: 'chat7', say: 'Tuesday!' },
      { from: BEN, group: 'chat7', say: 'No, Wednesday!', after_seconds: 5 },
    ],
    people: [
      { number: ANN, answers: [{ group: 'chat7', contains: 'tuesday', say: 'Told you.' }] },
      { number: BEN, answers: [{ group: 'chat7', say: 'Never.', after_seconds: 3 }] },
    ],
  })

  await fake.advance('6s')
  const { data: conversations } = await fake.get('/api/v1/conversations?type=group')
  const path = `/api/v1/conversations/${conversations[0].id}/messages`
  await fake.post(path, { text: 'Tuesday it is.' })
  await fake.advance('10s')
  const { data: outbox } = await fake.get('/api/v1/simulated/outbox?to=chat7')

  expect(await received(fake)).toEqual(['Tuesday!', 'No, Wednesday!', 'Told you.', 'Never.'])
  expect(outbox.map(({ text, participants }: Json) => [text, participants])).toEqual([
    ['Tuesday it is.', [ANN, BEN]],
  ])
})

test('a reset brings back the file and the states of people as they were', async () => {
  const people = [{ number: ANN, answers: [{ times: 1, say: 'Once' }] }]
  await using fake = await startWith({ people })
  await fake.post('/api/v1/simulated/snapshots', { name: 'before' })
  const ask = async () => {
    await fake.send({ to: ANN, text: 'Hello' })
    await fake.advance('10s')
  }
  await ask()
  await ask()
  const once = await received(fake)
  await fake.call('PUT', '/api/v1/simulated/people', {})

  await fake.post('/api/v1/simulated/reset', { name: 'before' })
  await ask()

  expect([once, await received(fake)]).toEqual([['Once'], ['Once']])
  expect((await fake.get('/api/v1/simulated/people')).people).toEqual(people)
  await fake.post('/api/v1/simulated/reset')
  expect(await fake.get('/api/v1/simulated/people')).toEqual({})
})

test('the start of people is part of the state that a reset brings back', async () => {
  const people = {
    starts: [{ from: ANN, say: 'Good morning' }],
    faults: [{ fault: 'refuses' as const }],
  }
  await using fake = await startFake({ people })
  await fake.advance('1s')
  const first = await received(fake)

  await fake.post('/api/v1/simulated/reset')
  await fake.advance('1s')

  expect([first, await received(fake)]).toEqual([['Good morning'], ['Good morning']])
  expect((await fake.get('/api/v1/simulated/faults')).data).toMatchObject([{ fault: 'refuses' }])
})

const FAULTY: readonly (readonly [body: object, path: string, words: string])[] = [
  [{ peple: [] }, 'peple', 'Did you mean people?'],
  [{ people: [{ number: ANN, answers: [{ say: 7 }] }] }, 'people.0.answers.0.say', 'string'],
  [{ people: [{ number: ANN, answers: [{ react: 'lov' }] }] }, 'people.0.answers.0.react', 'love?'],
  [
    { people: [{ number: ANN, answers: [{ matches: '(' }] }] },
    'people.0.answers.0.matches',
    'regular',
  ],
  [{ people: [{ number: 'Ann' }] }, 'people.0.number', '+12025550147'],
  [{ people: [{ number: ANN }, { number: ANN }] }, 'people.1.number', 'twice'],
  [{ people: [{ number: ANN, answers: [{ reply: true }] }] }, 'people.0.answers.0.reply', 'say'],
  [
    { people: [{ number: ANN, answers: [{ files: [{ filename: 'a' }] }] }] },
    'people.0.answers.0.files.0',
    'content_base64 or kind',
  ],
  [{ starts: [{ from: ANN, say: 'Hi', group: 'x' }] }, 'starts.0.group', 'groups'],
  [{ starts: [{ from: ANN }] }, 'starts.0.say', 'required'],
  [{ groups: [{ identifier: 'x', participants: ['?'] }] }, 'groups.0.participants', '+12025550147'],
  [{ faults: [{ fault: 'lost', url: 'x' }] }, 'faults.0.url', 'lost'],
]

test('a file of people that makes no sense is refused with the place of the fault', async () => {
  await using fake = await startFake()

  for (const [body, path, words] of FAULTY) {
    const answer = await fake.call('PUT', '/api/v1/simulated/people', body)
    expect(answer.status).toBe(400)
    expect(answer.body.error.details.issues[0].path).toBe(path)
    expect(answer.body.error.message).toContain(words)
  }
  expect(await fake.get('/api/v1/simulated/people')).toEqual({})
})

test('the file of the guide is one, also if it names its schema', async () => {
  const [text = ''] = blocks('fake', 'json')
  await using fake = await startFake()
  const named = { $schema: 'http://localhost/schema', ...JSON.parse(text) }

  const file = readPeopleFile(JSON.stringify(named))
  const schema = await fake.get('/api/v1/simulated/people/schema')

  expect(file).toEqual(JSON.parse(text))
  expect(Object.keys(schema.properties)).toEqual(['$schema', ...Object.keys(file)])
})

test('--people names each fault of its file, and nothing is started', async () => {
  using folder = new ScratchFolder()
  await Bun.write(
    folder.file('a.json'),
    '{"people":[{"number":"Ann","answers":[{"matches":"("}]}]}',
  )
  await Bun.write(folder.file('b.json'), 'people: []')

  const [a, b, none] = [
    await hookline(['fake', '--people', folder.file('a.json')]),
    await hookline(['fake', '--people', folder.file('b.json')]),
    await hookline(['fake', '--people', folder.file('c.json')]),
  ]

  expect(a.stderr).toContain('people.0.number: must be a number like +12025550147')
  expect(a.stderr).toContain('people.0.answers.0.matches: must be a regular expression')
  expect(b.stderr).toContain('must be a JSON object')
  expect(none.stderr).toContain('There is no file')
  expect([a.exitCode, b.exitCode, none.exitCode]).toEqual([2, 2, 2])
})

test('a client for a fake has its calls, and any other client has not', async () => {
  for (const [language, call] of [
    ['typescript', 'listOutbox('],
    ['python', 'def list_outbox('],
  ] as const) {
    const fakes = await hookline(['client', language, '--fake'])
    const plain = await hookline(['client', language])
    expect([fakes.stdout.includes(call), plain.stdout.includes(call)]).toEqual([true, false])
  }
})
