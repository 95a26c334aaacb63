// What a Mac line says of itself when something is taken away, what it does about it, and that it
// goes on receiving where only sending is impossible.

import { expect, test } from 'bun:test'
import { renameSync } from 'node:fs'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { NEVER } from '../../../../src/system/clock.ts'
import { messagesOf, runLine } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'

/** The line's states in order: `online`, `online without iMessage`, or the code of a reason. */
function statesOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => {
    if (event.type === 'offline') return [event.reason.code]
    if (event.type !== 'online') return []
    return [event.imessageActive ? 'online' : 'online without iMessage']
  })
}

async function codesOf(rig: MacRig): Promise<readonly string[]> {
  return (await rig.driver.checkup(NEVER)).map(({ code }) => code)
}

test('a denied Automation permission stops sending, says so, and receiving goes on', async () => {
  await using rig = await attendedMac()

  rig.model.automation = 'denied'
  await rig.clock.advance(301_000)
  await rig.receive('still there?')
  await rig.clock.advance(1_000)
  const denied = statesOf(rig.line.events)
  const codes = await codesOf(rig)
  rig.model.automation = 'granted'
  await rig.clock.advance(31_000)

  expect(denied).toEqual(['online', 'automation_denied'])
  expect(codes).toEqual(['automation_denied'])
  expect(messagesOf(rig.line.events).map(({ text }) => text)).toEqual(['still there?'])
  expect(statesOf(rig.line.events)).toEqual(['online', 'automation_denied', 'online'])
})

test('a send that meets a denied permission takes the line offline before it answers', async () => {
  await using rig = await attendedMac()

  // Between two looks of the line, which would publish it, too.
  await rig.clock.advance(20)
  rig.model.automation = 'denied'
  const outcome = await rig.line.send('hello', async () => true)

  expect(outcome).toMatchObject({ outcome: 'not_sent', blame: 'line' })
  expect(statesOf(rig.line.events)).toEqual(['online', 'automation_denied'])
})

test('an account that is signed out takes the line offline, one that is not connected does not', async () => {
  await using rig = await attendedMac()

  rig.model.account.isConnected = false
  await rig.clock.advance(301_000)
  rig.model.account.exists = false
  await rig.clock.advance(301_000)
  rig.model.account = { exists: true, isEnabled: true, isConnected: true }
  await rig.clock.advance(31_000)
  rig.model.account.isEnabled = false
  await rig.clock.advance(301_000)

  const out = 'messages_signed_out'
  const states = ['online', 'online without iMessage', out, 'online', out]
  expect(statesOf(rig.line.events)).toEqual(states)
})

test('an old account that is switched off beside a living one changes nothing', async () => {
  using rig = makeMacRig()
  rig.model.oldAccounts = 2

  await using line = await runLine(rig, rig.driver)
  const outcome = await line.send('hello', async () => true)

  expect(statesOf(line.events)).toEqual(['online'])
  expect(outcome).toMatchObject({ outcome: 'accepted' })
})

test('an account of which this macOS reports nothing takes nothing offline', async () => {
  using rig = makeMacRig()
  rig.model.hasAccountProperties = false
  rig.model.account.isConnected = false

  await using line = await runLine(rig, rig.driver)
  await rig.clock.advance(301_000)

  expect(statesOf(line.events)).toEqual(['online'])
})

test('Messages is started when it does not run, hidden, and started again when it does not answer', async () => {
  using rig = makeMacRig()
  rig.model.quit()

  await using line = await runLine(rig, rig.driver)
  const isStarted = rig.model.isRunning
  rig.model.isAnswering = false
  await rig.clock.advance(301_000 + 60_000 + 60_000)

  expect(isStarted).toBe(true)
  expect(statesOf(line.events)).toContain('messages_not_answering')
  expect(rig.model.isAnswering).toBe(true)
  await rig.clock.advance(60_000)
  expect(statesOf(line.events).at(-1)).toBe('online')
})

test('without a user at the screen the line is offline, and it comes back by itself', async () => {
  using rig = makeMacRig()
  rig.mac.hasGuiSession = false

  await using line = await runLine(rig, rig.driver)
  rig.mac.hasGuiSession = true
  await rig.clock.advance(31_000)

  expect(statesOf(line.events)).toEqual(['no_gui_session', 'online'])
})

test('a database that is not there is looked for again, and what came meanwhile is reported', async () => {
  using rig = makeMacRig()
  await using first = await runLine(rig, rig.driver)
  await first.end()
  renameSync(rig.chatDbPath, `${rig.chatDbPath}.away`)

  await using line = await runLine(rig, rig.driver, { checkpoint: first.checkpoint() })
  const absent = statesOf(line.events)
  const codes = await codesOf(rig)
  renameSync(`${rig.chatDbPath}.away`, rig.chatDbPath)
  await rig.receive('while you were away')
  await rig.clock.advance(16_000)

  expect(absent).toEqual(['chat_db_absent'])
  expect(codes).toEqual(['chat_db_absent'])
  expect(statesOf(line.events)).toEqual(['chat_db_absent', 'online'])
  expect(messagesOf(line.events).map(({ text }) => text)).toEqual(['while you were away'])
})

test('without Full Disk Access the line says so, and the relay starts again once it is granted', async () => {
  using rig = makeMacRig()
  rig.fullDiskAccess.relay = false
  rig.fullDiskAccess.child = false

  await using line = await runLine(rig, rig.driver)
  const before = [...rig.restarts]
  const codes = await codesOf(rig)
  rig.fullDiskAccess.child = true
  await rig.clock.advance(16_000)
  await rig.driver.discover(NEVER)

  expect(statesOf(line.events)).toEqual(['full_disk_access'])
  expect(codes).toEqual(['full_disk_access'])
  expect([before, rig.restarts]).toEqual([[], ['Full Disk Access was granted']])
})

test('Full Disk Access that is missing before the number is known is reported all the same', async () => {
  using rig = makeMacRig({ driver: { phoneNumber: null } })
  rig.fullDiskAccess.relay = false

  const found = await rig.driver.discover(NEVER)

  expect(found.map(({ number }) => number)).toEqual([null])
  expect(await codesOf(rig)).toEqual(['full_disk_access'])
})

test('the Mac is kept awake for as long as its line runs', async () => {
  using rig = makeMacRig()

  await using line = await runLine(rig, rig.driver)
  const during = rig.mac.isKeptAwake()
  await line.end()

  expect([during, rig.mac.isKeptAwake()]).toEqual([true, false])
})

test('a number that nobody reported is read from the history, and asked for if that is silent', async () => {
  using rig = makeMacRig({ driver: { phoneNumber: null } })

  const before = await rig.driver.discover(NEVER)
  const codes = await codesOf(rig)
  rig.model.receive('+15550003333', 'hello')
  await rig.clock.advance(61_000)
  const after = await rig.driver.discover(NEVER)

  expect(before.map(({ number }) => number)).toEqual([null])
  expect(codes).toEqual(['number_unknown'])
  expect(after.map(({ number }) => number)).toEqual([rig.model.number])
})

test('a line whose history stands on another number says so, and goes on', async () => {
  using rig = makeMacRig({ driver: { phoneNumber: '+15550004444' } })
  rig.model.receive('+15550003333', 'hello')

  await using line = await runLine(rig, rig.driver)
  const codes = await codesOf(rig)

  expect(codes).toEqual(['sends_as_other_number'])
  expect(statesOf(line.events)).toEqual(['online'])
})
