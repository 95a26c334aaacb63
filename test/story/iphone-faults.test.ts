// What a pulled cable, a stop and a crash do to a message on its way through an iPhone, over real sockets: it
// is never sent twice, and what became of it is announced once.

import { expect, test } from 'bun:test'

import type { CablePhone } from '../support/iphone/cable-phone.ts'
import { NUMBER, UDID } from '../support/iphone/fake-phones.ts'
import type { CommandName } from '../support/iphone/wda-commands.ts'
import { FRIEND, OTHER_FRIEND, PhoneBox, startTwo } from './iphone-relay.ts'

const ASYNC = { Prefer: 'respond-async' }
const RECEIVED = ['message.received']
const LIFE = ['message.sent', 'message.delivered', 'message.read']
/** Enough for some looks at every chat. */
const A_WHILE_MS = 20_000

/** The cable is pulled when the agent has got a command of that name, before or after it is carried out. */
async function pullAt(
  { box, phone }: { readonly box: PhoneBox; readonly phone: CablePhone },
  command: CommandName,
  when: 'before' | 'after',
): Promise<void> {
  const { commands } = phone
  commands.meddle = (name) => {
    if (name !== command) return null
    if (when === 'before') phone.unplug()
    return { how: 'drop', when }
  }
  await box.comesTo(`the agent gets ${command}`, () => commands.names.includes(command))
  await box.passes(commands.commandMs)
  phone.unplug()
  commands.meddle = () => null
}

test('while the cable is out a message waits that was not touched yet, and goes out once it is in', async () => {
  for (const command of ['url', 'value', 'click'] as const) {
    const { box, phone } = await PhoneBox.with(UDID, NUMBER)
    await using _ = box
    const relay = await box.start()
    await box.isOnline(relay)

    const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
    // Right before the click its button is looked for.
    await pullAt({ box, phone }, command === 'click' ? 'find' : command, 'before')
    await box.passes(1_000)
    const [line] = await relay.lines()
    const waiting = await relay.message(body.id)
    phone.plugIn(box.mux)
    const message = await box.becomes(relay, body.id, 'read')

    expect({ command, ...pick(line) }).toEqual({
      command,
      status: 'offline',
      status_reason: 'device_absent',
      status_hint: expect.stringContaining('plug it in'),
    })
    expect(waiting).toMatchObject({ status: 'queued', queued_reason: 'line_offline', error: null })
    expect(message.error).toBeNull()
    expect({ command, carried: phone.carried('hello') }).toEqual({ command, carried: 1 })
    expect(box.eventsOf('hello')).toEqual(LIFE)
  }
}, 180_000)

test('of a message whose cable was pulled right after its touch nobody knows, until its bubble is seen', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const relay = await box.start()
  await box.isOnline(relay)

  const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await pullAt({ box, phone }, 'click', 'after')
  const doubtful = await box.becomes(relay, body.id, 'uncertain')
  const eventsBefore = box.eventsOf('hello')
  phone.plugIn(box.mux)
  const message = await box.becomes(relay, body.id, 'read')
  await box.passes(A_WHILE_MS)

  expect(doubtful.error.code).toBe('outcome_unknown')
  expect(eventsBefore).toEqual([])
  expect(message.error).toBeNull()
  expect(box.eventsOf('hello')).toEqual(LIFE)
  expect([phone.carried('hello'), phone.screen.touches]).toEqual([1, 1])
})

test('a message whose touch the pulled cable swallowed has failed once two looks do not find it', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const relay = await box.start()
  await box.isOnline(relay)

  const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await pullAt({ box, phone }, 'click', 'before')
  const doubtful = await box.becomes(relay, body.id, 'uncertain')
  phone.plugIn(box.mux)
  const message = await box.becomes(relay, body.id, 'failed')
  await box.passes(A_WHILE_MS)

  expect(doubtful.error.code).toBe('outcome_unknown')
  expect(message.error.code).toBe('unconfirmed')
  expect(box.eventsOf('hello')).toEqual(['message.failed'])
  expect([phone.carried('hello'), phone.screen.touches]).toEqual([0, 0])
  expect(phone.screen.chat(FRIEND).draft).toBe('')
})

/** So many commands of the agent after a send, and so much time: the sixteenth is the touch. */
const MOMENTS = [
  [0, 0],
  [12, 0],
  [15, 0],
  [16, 0],
  [17, 0],
  [17, 100],
] as const

for (const end of ['stop', 'crash'] as const) {
  test(`after a ${end} at any moment of a send nothing is lost in silence, and nothing repeats`, async () => {
    for (const [count, ms] of MOMENTS) {
      const { box, phone } = await PhoneBox.with(UDID, NUMBER)
      await using _ = box
      const before = await box.start()
      await box.isOnline(before)
      phone.screen.receive(OTHER_FRIEND, 'before')
      await box.comesTo('it is announced', () => box.eventsOf('before').length > 0)
      await box.passes(1_000)
      const from = phone.commands.names.length

      const { body } = await before.send({ to: FRIEND, text: 'hello' }, ASYNC)
      await box.comesTo('so many commands', () => phone.commands.names.length - from >= count)
      await box.passes(ms)
      await (end === 'stop' ? box.stop(before) : box.crash())
      phone.screen.receive(FRIEND, 'hello yourself')
      const relay = await box.start()
      const message = await box.becomes(relay, body.id, 'read', 'failed')
      await box.passes(A_WHILE_MS)

      // Between the point of no return and the touch a crash is a message that nobody may send again.
      const isLost = end === 'crash' && phone.carried('hello') === 0
      const { status } = message
      const events = box.eventsOf('hello')
      expect({ count, ms, status, events, touches: phone.screen.touches }).toEqual(
        isLost
          ? { count, ms, status: 'failed', events: ['message.failed'], touches: 0 }
          : { count, ms, status: 'read', events: LIFE, touches: 1 },
      )
      expect(phone.carried('hello')).toBe(isLost ? 0 : 1)
      expect([box.eventsOf('before'), box.eventsOf('hello yourself')]).toEqual([RECEIVED, RECEIVED])
      expect((await relay.get('/api/v1/messages')).data).toHaveLength(3)
    }
  }, 180_000)
}

test('what came in while no relay ran is announced, and nothing of before is announced again', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const before = await box.start()
  await box.isOnline(before)
  phone.screen.receive(FRIEND, 'before')
  await box.comesTo('it is announced', () => box.eventsOf('before').length > 0)
  await box.passes(A_WHILE_MS)

  await box.stop(before)
  phone.screen.receive(FRIEND, 'meanwhile')
  phone.screen.receive(OTHER_FRIEND, 'from somebody new')
  const relay = await box.start()
  await box.isOnline(relay)
  await box.passes(A_WHILE_MS)

  const { data } = await relay.get('/api/v1/messages')
  expect(['before', 'meanwhile', 'from somebody new'].map((text) => box.eventsOf(text))).toEqual([
    RECEIVED,
    RECEIVED,
    RECEIVED,
  ])
  expect(data).toHaveLength(3)
})

test('a message that its phone had typed when the cable was pulled goes out by the other one', async () => {
  const { box, phone } = await PhoneBox.with(UDID, NUMBER)
  await using _ = box
  const { relay, first, second } = await startTwo({ box, phone })

  const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await pullAt({ box, phone: first }, 'value', 'after')
  const message = await box.becomes(relay, body.id, 'read')
  first.plugIn(box.mux)
  await box.isOnline(relay, 2)
  await box.passes(A_WHILE_MS)

  expect(message.error).toBeNull()
  expect(box.eventsOf('hello')).toEqual(LIFE)
  expect([first.carried('hello'), second.carried('hello')]).toEqual([0, 1])
  expect(first.screen.chat(FRIEND).draft).toBe('')
})

function pick({ status, status_reason, status_hint }: Record<string, unknown>) {
  return { status, status_reason, status_hint }
}
