// The agent against the commands of WebDriverAgent: what it does when they fail, hang, or come too many.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../../../src/domain/handle.ts'
import { httpExchange } from '../../../../../src/lines/kinds/iphone/agent/wda-http.ts'
import { PhoneAgent } from '../../../../../src/lines/kinds/iphone/agent/wda.ts'
import { readScreen } from '../../../../../src/lines/kinds/iphone/screens/messages-screen.ts'
import { systemClock } from '../../../../../src/system/clock.ts'
import { directExchange, FakeWda } from '../../../../support/iphone/fake-wda.ts'
import { MessagesPhone } from '../../../../support/iphone/messages-phone.ts'
import { FRIEND, NEVER, OTHER, run } from '../../../../support/iphone/ui-rig.ts'
import { codeOf, firstOf, WdaCommands } from '../../../../support/iphone/wda-commands.ts'
import { TestClock } from '../../../../support/test-clock.ts'

function overCommands() {
  const clock = new TestClock()
  const phone = new MessagesPhone(clock)
  const commands = new WdaCommands(phone)
  const agent = PhoneAgent.over(directExchange(commands), clock)
  return { clock, phone, commands, agent }
}

type Rig = { readonly agent: PhoneAgent }

const field = ({ agent }: Rig) => agent.find({ name: 'messageBodyField' }, NEVER)
const button = ({ agent }: Rig) => agent.find({ name: 'sendButton' }, NEVER)

const type = async (rig: Rig, text: string) => rig.agent.type(await field(rig), text, NEVER)

const ODD_BODIES = ['<html><title>Health Check</title></html>', '', 'null', '{}']

test.each(ODD_BODIES)(
  'an answer that is %j is an error of its own, and no command is done by it',
  async (body) => {
    const rig = overCommands()
    rig.commands.meddle = (name) => {
      return name === 'source' || name === 'url' ? { how: 'answer', body } : null
    }

    const codes = [
      await run(rig.clock, codeOf(rig.agent.tree(NEVER))),
      await run(rig.clock, codeOf(rig.agent.openChat({ handle: FRIEND, body: null }, NEVER))),
    ]

    expect(codes).toEqual(['other', 'other'])
  },
)

test('a chat is opened by a number or an address as it is, and its text in the signs of a link', async () => {
  const rig = overCommands()
  const urls: string[] = []
  rig.phone.openUrl = (url) => void urls.push(url)

  await run(rig.clock, rig.agent.openChat({ handle: FRIEND, body: null }, NEVER))
  const ann = deviceHandle('ann+1@example.com')
  await run(rig.clock, rig.agent.openChat({ handle: ann, body: 'a & b?' }, NEVER))

  expect(urls).toEqual(['sms:+12025550123', 'sms:ann+1@example.com&body=a%20%26%20b%3F'])
})

test('commands go out one at a time, the most urgent first', async () => {
  const rig = overCommands()
  const order: string[] = []
  const ask = (name: string, agent: PhoneAgent) =>
    agent.tree(NEVER).then(() => void order.push(name))

  const all = Promise.all([
    ask('first', rig.agent.at('poll')),
    ask('poll', rig.agent.at('poll')),
    ask('receipt', rig.agent.at('receipt')),
    ask('send', rig.agent.at('send')),
    ask('second poll', rig.agent.at('poll')),
  ])
  await run(rig.clock, all)

  expect(order).toEqual(['first', 'send', 'receipt', 'poll', 'second poll'])
  expect(rig.commands.overlaps).toBe(0)
})

test('an abort takes a command out of the queue before it was given', async () => {
  const rig = overCommands()
  const controller = new AbortController()

  const running = rig.agent.tree(NEVER)
  const waiting = codeOf(rig.agent.openChat({ handle: FRIEND, body: null }, controller.signal))
  controller.abort()
  // Time stands still: the running one has not come to its end.
  const code = await waiting
  await run(rig.clock, running)

  expect(code).toBe('aborted')
  expect(rig.commands.names).not.toContain('url')
})

test('a session that goes twice in a minute is taken by another program', async () => {
  const rig = overCommands()
  await run(rig.clock, rig.agent.tree(NEVER))
  rig.commands.takeSession()
  await run(rig.clock, rig.agent.tree(NEVER))
  rig.commands.takeSession()

  const soon = await run(rig.clock, codeOf(rig.agent.tree(NEVER)))
  const sessions = rig.commands.names.filter((name) => name === 'session').length
  await rig.clock.advance(61_000)
  await run(rig.clock, rig.agent.tree(NEVER))
  rig.commands.takeSession()
  const later = await run(rig.clock, codeOf(rig.agent.tree(NEVER)))

  expect([soon, later]).toEqual(['shared', null])
  expect(sessions).toBe(2)
})

test('a touch whose session went away is not made again', async () => {
  const rig = overCommands()
  rig.phone.open(FRIEND)
  await run(rig.clock, type(rig, 'hello'))
  rig.commands.meddle = (name) => {
    if (name === 'click') rig.commands.takeSession()
    return null
  }

  const element = await run(rig.clock, button(rig))
  const code = await run(rig.clock, codeOf(rig.agent.tap(element, NEVER)))

  expect(code).toBe('invalid_session')
  expect(rig.commands.names.filter((name) => name === 'click')).toHaveLength(1)
  expect(rig.phone.touches).toBe(0)
})

test('an element whose chat has gone is never looked for again', async () => {
  const rig = overCommands()
  rig.phone.open(FRIEND)
  const composer = await run(rig.clock, field(rig))
  await run(rig.clock, rig.agent.type(composer, 'hello', NEVER))
  const send = await run(rig.clock, button(rig))
  rig.phone.open(OTHER)
  rig.phone.chat(OTHER).draft = 'theirs'

  const commands = [
    rig.agent.type(composer, 'more', NEVER),
    rig.agent.clear(composer, NEVER),
    rig.agent.tap(send, NEVER),
  ]
  const codes = await run(rig.clock, Promise.all(commands.map(codeOf)))

  expect(codes).toEqual(['stale', 'stale', 'stale'])
  expect([FRIEND, OTHER].map((key) => rig.phone.chat(key).draft)).toEqual(['hello', 'theirs'])
  expect(rig.phone.touches).toBe(0)
})

test('of elements with one name the one is found that has the label, by its place among equals', async () => {
  const rig = overCommands()
  for (const key of [FRIEND, OTHER]) rig.phone.receive(key, 'hi')
  const cells = readScreen(await run(rig.clock, rig.agent.tree(NEVER)))
  const places = cells.screen === 'list' ? cells.cells.map(({ place }) => place) : []

  for (const place of places.toReversed()) {
    rig.phone.back()
    await run(
      rig.clock,
      rig.agent.find(place, NEVER).then((element) => rig.agent.tap(element, NEVER)),
    )
  }
  const missing = codeOf(rig.agent.find({ name: 'sendButton', label: 'Record audio' }, NEVER))

  const { screen } = rig.phone
  expect(screen.on === 'chat' ? screen.chat.key : screen.on).toBe(rig.phone.chats[0]?.key ?? '')
  expect(await run(rig.clock, missing)).toBe('stale')
})

test('a slow command of ours is no failure of health', async () => {
  const rig = overCommands()
  rig.commands.meddle = firstOf('source', { how: 'slow', ms: 30_000 })

  const slow = rig.agent.tree(NEVER)
  await rig.clock.advance(15_000)
  const during = codeOf(rig.agent.health(NEVER))
  await rig.clock.advance(10_000)
  await run(rig.clock, slow)
  const after = codeOf(run(rig.clock, rig.agent.health(NEVER)))

  expect([await during, await after]).toEqual([null, null])
  expect(rig.commands.overlaps).toBe(0)
})

test('an agent that answers for its health beside its work is asked at once', async () => {
  const rig = overCommands()
  rig.commands.isStatusStandalone = true
  rig.commands.meddle = firstOf('source', { how: 'slow', ms: 30_000 })

  const slow = rig.agent.tree(NEVER)
  await rig.clock.advance(20_000)
  const answer = { hasCome: false }
  void rig.agent.health(NEVER).then(() => (answer.hasCome = true))
  await rig.clock.advance(1_000)

  expect(answer.hasCome).toBe(true)
  await run(rig.clock, slow)
})

test('an agent that does nothing of ours and does not answer is stuck', async () => {
  const rig = overCommands()
  rig.commands.meddle = firstOf('status', { how: 'slow', ms: 30_000 })

  const code = codeOf(rig.agent.health(NEVER))
  await rig.clock.advance(10_000)

  expect(await code).toBe('stuck')
})

test('an agent that does not answer for a minute is stuck', async () => {
  const rig = overCommands()
  await run(rig.clock, rig.agent.tree(NEVER))
  rig.commands.meddle = firstOf('source', { how: 'slow', ms: 90_000 })

  const code = codeOf(rig.agent.tree(NEVER))
  await rig.clock.advance(49_000)
  const before = codeOf(rig.agent.health(NEVER))
  await rig.clock.advance(10_000)
  await rig.clock.advance(1_100)

  expect(await before).toBeNull()
  expect(await code).toBe('stuck')
})

test('what an error says never quotes the phone', async () => {
  const rig = overCommands()
  rig.phone.open(FRIEND)
  rig.phone.alerts = [{ text: 'A secret', buttons: [] }]

  const asked = type(rig, 'my text')
  const error = await run(
    rig.clock,
    asked.catch((caught: unknown) => caught),
  )

  expect(String(error)).toBe('AgentError: POST /element/value failed: alert (HTTP 500).')
})

test('a long text is typed in pieces, each within the time of a command', async () => {
  const rig = overCommands()
  rig.phone.open(FRIEND)
  const text = `${'a'.repeat(999)}👩‍👩‍👧‍👦${'b'.repeat(1_500)}`

  await run(rig.clock, type(rig, text))

  const pieces = rig.commands.requests.filter(({ name }) => name === 'value')
  expect(pieces.map(({ body }) => String(body['text']).length)).toEqual([999, 1_000, 511])
  expect(rig.phone.chat(FRIEND).draft).toBe(text)
})

async function overTheWire() {
  const phone = new MessagesPhone(systemClock)
  const commands = new WdaCommands(phone)
  commands.commandMs = 0
  const server = await FakeWda.start(commands)
  const agent = PhoneAgent.over(httpExchange(server.connect, 8100), systemClock)
  return { phone, commands, server, agent, [Symbol.dispose]: () => server.close() }
}

test('a body has its length and comes in one piece, and its text arrives as it was', async () => {
  using rig = await overTheWire()
  rig.phone.open(FRIEND)

  await type(rig, 'héllo 👋🏽')
  await rig.agent.tree(NEVER)

  const heads = rig.server.heads.map(({ line, headers }) => ({ line, headers }))
  expect(heads.filter(({ headers }) => !('content-length' in headers))).toEqual([])
  expect(heads.filter(({ headers }) => 'transfer-encoding' in headers)).toEqual([])
  expect(rig.phone.chat(FRIEND).draft).toBe('héllo 👋🏽')
})

test('no connection stays open behind a command', async () => {
  using rig = await overTheWire()

  await rig.agent.tree(NEVER)
  await rig.agent.alerts(NEVER)

  // It never resolves while one is open.
  expect(await rig.server.idle()).toBeUndefined()
})

test('the session takes nothing away and accepts nothing by itself', async () => {
  using rig = await overTheWire()

  await rig.agent.tree(NEVER)

  expect(rig.commands.requests.slice(0, 2)).toEqual([
    {
      name: 'session',
      body: {
        capabilities: {
          alwaysMatch: {
            bundleId: 'com.apple.MobileSMS',
            forceAppLaunch: false,
            shouldTerminateApp: false,
            shouldWaitForQuiescence: false,
            waitForIdleTimeout: 0,
            disableAutomaticScreenshots: true,
            accessibilityDeadline: 30,
          },
        },
      },
    },
    {
      name: 'settings',
      body: {
        settings: {
          snapshotMaxDepth: 50,
          animationCoolOffTimeout: 0,
          shouldUseCompactResponses: false,
          elementResponseAttributes: 'label',
        },
      },
    },
  ])
})

test('an agent that is not there is down, and so is one whose connection breaks', async () => {
  using rig = await overTheWire()
  rig.commands.meddle = firstOf('source', { how: 'drop', when: 'after' })

  const broken = await codeOf(rig.agent.tree(NEVER))
  rig.server.close()
  const absent = await codeOf(rig.agent.tree(NEVER))

  expect([broken, absent]).toEqual(['down', 'down'])
})

test('an abort lets go of a command that hangs', async () => {
  using rig = await overTheWire()
  const arrived = Promise.withResolvers<void>()
  rig.commands.meddle = (name) => {
    if (name === 'source') arrived.resolve()
    return name === 'source' ? { how: 'slow', ms: 30_000 } : null
  }
  const controller = new AbortController()

  const ended = codeOf(rig.agent.tree(controller.signal))
  await arrived.promise
  controller.abort()

  expect(await ended).toBe('aborted')
})
