// When a Mac line starts Messages again, when it leaves it alone, and that it lets it warm up.

import { expect, test } from 'bun:test'

import type { LineEvent } from '../../../../src/lines/driver.ts'
import { ChatDb } from '../../../../src/lines/kinds/mac/chat-db.ts'
import { Condition } from '../../../../src/lines/kinds/mac/condition.ts'
import { type Mac, MessagesApp, macUser } from '../../../../src/lines/kinds/mac/mac-host.ts'
import { MessagesScript, type ScriptAnswer } from '../../../../src/lines/kinds/mac/script-runner.ts'
import { runLine } from '../../../contract/line-rig.ts'
import { attendedMac, makeMacRig, type MacRig } from '../../../contract/mac-rig.ts'
import { testHost } from '../../../support/kind-host.ts'
import { refused } from '../../../support/mac/script-behaviours.ts'
import { PATHS } from '../../../support/mac/stand-ins/machine.ts'

const SILENT: ScriptAnswer = { answer: 'silent', why: 'killed: timeout' }

function restartsOf(ran: readonly string[]): number {
  return ran.filter((name) => name === 'kill').length
}

function codesOf(events: readonly LineEvent[]): readonly string[] {
  return events.flatMap((event) => (event.type === 'offline' ? [event.reason.code] : []))
}

test('a message that does not leave for three minutes makes Messages start again, once', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend('stuck')
  await rig.line.send('hello', async () => true)

  await rig.clock.advance(170_000)
  const early = restartsOf(rig.ran)
  await rig.clock.advance(200_000)

  expect([early, restartsOf(rig.ran)]).toEqual([0, 1])
})

test('a send that Messages did not answer does not start it again while it answers otherwise', async () => {
  await using rig = await attendedMac()

  for (const text of ['one', 'two']) {
    rig.model.nextSend('hang')
    await rig.line.send(text, async () => true)
    await rig.clock.advance(10_000)
  }

  expect(codesOf(rig.line.events)).toEqual(['messages_not_answering', 'messages_not_answering'])
  expect(restartsOf(rig.ran)).toBe(0)
})

test('an account that cannot be asked for takes the line offline, whatever the number', async () => {
  await using rig = await attendedMac()
  rig.model.nextSend(refused('account', -10_000))

  await rig.line.send('hello', async () => true)

  expect(codesOf(rig.line.events)).toEqual(['messages_not_answering'])
})

/** Route to a person with whom Messages has a chat. */
async function routeOfNextSend(rig: MacRig, line: Awaited<ReturnType<typeof runLine>>) {
  await line.send('hello', async () => true)
  return rig.model.calls.findLast(({ mode }) => mode === 'send')?.route
}

test('a Messages that was started finds its chats before anything is sent', async () => {
  using rig = makeMacRig()
  rig.model.receive(rig.recipient, 'hello')
  await using line = await runLine(rig, rig.driver)

  rig.model.quit()
  while (!rig.model.isRunning) await rig.clock.advance(10)
  const route = await routeOfNextSend(rig, line)

  expect(route).toBe('chat')
})

test('a Messages that was started again finds its chats before anything is sent', async () => {
  using rig = makeMacRig()
  rig.model.receive(rig.recipient, 'hello')
  await using line = await runLine(rig, rig.driver)
  rig.model.nextSend('stuck')
  await line.send('stuck', async () => true)

  while (restartsOf(rig.ran) === 0) await rig.clock.advance(100)
  while (!rig.model.isRunning) await rig.clock.advance(10)
  const route = await routeOfNextSend(rig, line)

  expect(route).toBe('chat')
})

/** The watch over Messages alone. */
function makeCondition() {
  const rig = makeMacRig()
  const { clock, run, ran } = rig
  const host = testHost({ clock, run, start: rig.mac.start })
  const mac: Mac = {
    user: macUser(host),
    app: new MessagesApp(host, PATHS),
    script: new MessagesScript(host, '/usr/bin/osascript', () => {}),
    chatDb: { path: rig.chatDbPath, open: () => ChatDb.open(rig.chatDbPath) },
    stagingFolder: rig.stagingFolder,
  }
  const condition = new Condition(host, mac, () => {})
  const leaving = new AbortController()
  const end = () => {
    leaving.abort()
    rig.close()
  }
  return {
    rig,
    clock,
    condition,
    ran,
    begin: () => void condition.run(leaving.signal),
    [Symbol.dispose]: end,
  }
}

test('two silences in a row start Messages again, an answer between them does not', async () => {
  const restarts: number[] = []
  for (const between of [[], [{ answer: 'done' }] satisfies ScriptAnswer[]]) {
    using watch = makeCondition()
    for (const answer of [SILENT, ...between, SILENT]) watch.condition.record(answer)
    watch.begin()
    await watch.clock.advance(20_000)
    restarts.push(restartsOf(watch.ran))
  }

  expect(restarts).toEqual([1, 0])
})

test('after a restart the silences are counted again', async () => {
  using watch = makeCondition()
  const { rig, clock, condition, ran } = watch
  rig.model.automation = 'denied'
  for (const answer of [SILENT, SILENT]) condition.record(answer)
  watch.begin()
  await clock.advance(620_000)

  condition.record(SILENT)
  await clock.advance(20_000)

  expect(restartsOf(ran)).toBe(1)
})

test('an account that nobody can ask for has no connection that is known', async () => {
  using watch = makeCondition()
  const { clock, condition } = watch
  watch.begin()
  await clock.advance(2_000)
  const before = condition.isConnected

  condition.record({ answer: 'refused', stage: 'account', number: -1743 })

  expect([before, condition.isConnected]).toEqual([true, false])
})
