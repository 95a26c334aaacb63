// The agent over a real socket, against a server that reads requests as WebDriverAgent's does.

import { expect, test } from 'bun:test'

import { httpExchange } from '../../../../../src/lines/kinds/iphone/agent/wda-http.ts'
import { PhoneAgent } from '../../../../../src/lines/kinds/iphone/agent/wda.ts'
import { systemClock } from '../../../../../src/system/clock.ts'
import { FakeWda } from '../../../../support/iphone/fake-wda.ts'
import { MessagesPhone } from '../../../../support/iphone/messages-phone.ts'
import { FRIEND, NEVER } from '../../../../support/iphone/ui-rig.ts'
import { codeOf, firstOf } from '../../../../support/iphone/wda-checks.ts'
import { WdaCommands } from '../../../../support/iphone/wda-commands.ts'

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

  await rig.agent.type('messageBodyField', 'héllo 👋🏽', NEVER)
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
    { name: 'settings', body: { settings: { snapshotMaxDepth: 50, animationCoolOffTimeout: 0 } } },
  ])
})

test('every command of the agent is one that the server knows', async () => {
  using rig = await overTheWire()
  rig.phone.alerts = [{ text: 'Software Update', buttons: ['Later'] }]

  const alert = await rig.agent.alerts(NEVER)
  await rig.agent.pressAlert('Later', NEVER)
  const none = await rig.agent.alerts(NEVER)
  await rig.agent.activate(NEVER)
  await rig.agent.openChat({ handle: FRIEND, body: 'a & b\nc' }, NEVER)
  const draft = rig.phone.chat(FRIEND).draft
  await rig.agent.clear('messageBodyField', NEVER)
  await rig.agent.swipe('down', NEVER)
  const isLocked = await rig.agent.locked(NEVER)
  await rig.agent.unlock(NEVER)
  await rig.agent.health(NEVER)

  expect(alert).toEqual({ text: 'Software Update', buttons: ['Later'] })
  expect([none, isLocked]).toEqual([null, false])
  expect(draft).toBe('a & b\nc')
  expect(rig.phone.chat(FRIEND).draft).toBe('')
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
