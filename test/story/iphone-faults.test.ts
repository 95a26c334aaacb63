// What a pulled cable, a stop and a crash do to a message on its way through an iPhone: it is never sent
// twice, and what became of it is announced once.

import { expect, test } from 'bun:test'

import { NUMBER, OTHER_UDID, UDID } from '../support/iphone/fake-phones.ts'
import type { CommandName } from '../support/iphone/wda-commands.ts'
import { FRIEND, OTHER_FRIEND, PhoneBox } from './iphone-relay.ts'

const ASYNC = { Prefer: 'respond-async' }
const RECEIVED = ['message.received']
const LIFE = ['message.sent', 'message.delivered', 'message.read']
/** Enough for some looks at every chat. */
const A_WHILE_MS = 20_000

/** The cable is pulled when the agent has got a command of that name, before or after it is carried out. */
async function pullAt(
  box: PhoneBox,
  command: CommandName,
  when: 'before' | 'after',
  udid = UDID,
): Promise<void> {
  const { commands } = box.rig.of(udid)
  commands.meddle = (name) => {
    if (name !== command) return null
    if (when === 'before') box.rig.unplug(udid)
    return { how: 'drop', when }
  }
  const hasCome = () => commands.names.includes(command)
  await box.comesTo(`the agent gets ${command}`, hasCome, commands.commandMs)
  await box.passes(commands.commandMs)
  box.rig.unplug(udid)
  commands.meddle = () => null
}

test('while the cable is out a message waits that was not touched yet, and goes out once it is in', async () => {
  for (const command of ['url', 'find', 'value'] as const) {
    await using box = await PhoneBox.online()
    const { relay, screen } = box

    const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
    await pullAt(box, command, 'before')
    await box.passes(1_000)
    const [line] = await relay.lines()
    const waiting = await relay.message(body.id)
    box.plugIn()
    const message = await box.becomes(body.id, 'read')

    expect({ command, ...pick(line) }).toEqual({
      command,
      status: 'offline',
      status_reason: 'device_absent',
      status_hint: expect.stringContaining('plug it in'),
    })
    expect(waiting).toMatchObject({ status: 'queued', queued_reason: 'line_offline', error: null })
    expect(message.error).toBeNull()
    expect({ command, carried: screen.carried('hello') }).toEqual({ command, carried: 1 })
    expect(box.eventsOf('hello')).toEqual(LIFE)
  }
}, 180_000)

const UNCONFIRMED = {
  status: 'failed',
  code: 'unconfirmed',
  events: ['message.failed'],
  count: 0,
} as const

test.each([
  ['its bubble is seen', 'after', { status: 'read', code: null, events: LIFE, count: 1 }],
  ['two looks do not find it', 'before', UNCONFIRMED],
] as const)(
  'of a message whose cable was pulled at its touch nobody knows, until %s',
  async (_what, when, { status, code, events, count }) => {
    await using box = await PhoneBox.online()
    const { relay, screen } = box

    const { body } = await relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
    await pullAt(box, 'click', when)
    const doubtful = await box.becomes(body.id, 'uncertain')
    const eventsBefore = box.eventsOf('hello')
    box.plugIn()
    const message = await box.becomes(body.id, status)
    await box.passes(A_WHILE_MS)

    expect(doubtful.error.code).toBe('outcome_unknown')
    expect(eventsBefore).toEqual([])
    expect(message.error?.code ?? null).toBe(code)
    expect(box.eventsOf('hello')).toEqual([...events])
    expect([screen.carried('hello'), screen.touches]).toEqual([count, count])
    expect(screen.chat(FRIEND).draft).toBe('')
  },
)

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
      await using box = await PhoneBox.online()
      const { commands, screen } = box
      screen.receive(OTHER_FRIEND, 'before')
      await box.comesTo('it is announced', () => box.eventsOf('before').length > 0)
      await box.passes(1_000)
      const from = commands.names.length

      const { body } = await box.relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
      const isAt = () => commands.names.length - from >= count
      await box.comesTo('so many commands', isAt, commands.commandMs)
      await box.passes(ms)
      await (end === 'stop' ? box.stop() : box.crash())
      screen.receive(FRIEND, 'hello yourself')
      await box.start()
      const message = await box.becomes(body.id, 'read', 'failed')
      await box.passes(A_WHILE_MS)

      // Between the point of no return and the touch a crash is a message that nobody may send again.
      const isLost = end === 'crash' && screen.carried('hello') === 0
      const { status } = message
      const events = box.eventsOf('hello')
      expect({ count, ms, status, events, touches: screen.touches }).toEqual(
        isLost
          ? { count, ms, status: 'failed', events: ['message.failed'], touches: 0 }
          : { count, ms, status: 'read', events: LIFE, touches: 1 },
      )
      expect(screen.carried('hello')).toBe(isLost ? 0 : 1)
      expect([box.eventsOf('before'), box.eventsOf('hello yourself')]).toEqual([RECEIVED, RECEIVED])
      expect((await box.relay.get('/api/v1/messages')).data).toHaveLength(3)
    }
  }, 180_000)
}

test('what came in while no relay ran is announced, and nothing of before is announced again', async () => {
  await using box = await PhoneBox.online()
  const { screen } = box
  screen.receive(FRIEND, 'before')
  await box.comesTo('it is announced', () => box.eventsOf('before').length > 0)
  await box.passes(A_WHILE_MS)

  await box.stop()
  screen.receive(FRIEND, 'meanwhile')
  screen.receive(OTHER_FRIEND, 'from somebody new')
  await box.start()
  await box.isOnline()
  await box.passes(A_WHILE_MS)

  const { data } = await box.relay.get('/api/v1/messages')
  expect(['before', 'meanwhile', 'from somebody new'].map((text) => box.eventsOf(text))).toEqual([
    RECEIVED,
    RECEIVED,
    RECEIVED,
  ])
  expect(data).toHaveLength(3)
})

test('a message that its phone had typed when the cable was pulled goes out by the other one', async () => {
  await using box = await PhoneBox.online(2)
  const [line] = await box.relay.lines()
  const first = line.phone_number === NUMBER ? UDID : OTHER_UDID
  const second = first === UDID ? OTHER_UDID : UDID

  const { body } = await box.relay.send({ to: FRIEND, text: 'hello' }, ASYNC)
  await pullAt(box, 'value', 'after', first)
  const message = await box.becomes(body.id, 'read')
  box.plugIn(first)
  await box.isOnline(2)
  await box.passes(A_WHILE_MS)

  const screens = [first, second].map((udid) => box.rig.of(udid).phone)
  expect(message.error).toBeNull()
  expect(box.eventsOf('hello')).toEqual(LIFE)
  expect(screens.map((screen) => screen.carried('hello'))).toEqual([0, 1])
  expect(screens[0]?.chat(FRIEND).draft).toBe('')
})

function pick({ status, status_reason, status_hint }: Record<string, unknown>) {
  return { status, status_reason, status_hint }
}
