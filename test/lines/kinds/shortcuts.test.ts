// What bounds a line by Shortcuts. What it does within them is in the contract and in the stories.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../../src/domain/handle.ts'
import { timestamp, type LineId, type MessageId } from '../../../src/domain/ids.ts'
import type { LineEvent } from '../../../src/lines/driver.ts'
import { HandedOut } from '../../../src/lines/kinds/shortcuts/hand-over.ts'
import { ShortcutsDriver } from '../../../src/lines/kinds/shortcuts/kind.ts'
import { NEVER } from '../../../src/system/clock.ts'
import { testHost } from '../../support/kind-host.ts'
import { settle, TestClock } from '../../support/test-clock.ts'

const KEY = 'brg_00000000000000000000000000'
const NUMBER = '+12025550147'
const LINE = {
  id: 'line_00000000000000000000000000' as LineId, // Drivers only hand it on.
  key: KEY,
  number: NUMBER,
  checkpoint: null,
  unsettled: [],
  open: [],
}

function messageWith(id: string) {
  return {
    id: id as MessageId, // Drivers take an id as it is.
    to: deviceHandle('+12025550123'),
    text: 'hello',
    createdAt: timestamp(0),
    platformGuid: null,
  }
}

/** A line whose events become durable when `letGo` is called. */
function runHeld() {
  const clock = new TestClock()
  const callers = () => [{ key: KEY, number: NUMBER }]
  const pathOf = (name: string) => `/nowhere/${name}`
  const driver = new ShortcutsDriver(testHost({ clock, callers, pathOf }))
  const { promise: gate, resolve: letGo } = Promise.withResolvers<void>()
  const published: LineEvent[] = []
  const onEvent = async (event: LineEvent) => {
    if (event.type !== 'message') return
    published.push(event)
    await gate
  }
  const end = new AbortController()
  const ended = driver.run(LINE, { onEvent }, end.signal)
  return { driver, published, letGo, ended, end: () => end.abort() }
}

test('a hundred messages may be on their way to the disk; those above come again', async () => {
  const { driver, published, letGo, ended, end } = runHeld()
  const post = (id: number) =>
    driver.receive(KEY, { id: `${id}`, from: '+12025550123', text: `${id}`, at: null })

  const posts = Array.from({ length: 102 }, (_, id) => post(id))
  await settle()
  const publishedBefore = published.length
  letGo()
  const answers = await Promise.all(posts)
  const again = await post(101)
  end()
  await ended

  expect(publishedBefore).toBe(100)
  expect(answers.filter((answer) => answer === 'stored').length).toBe(100)
  expect(answers.slice(100)).toEqual(['not_ready', 'not_ready'])
  expect(again).toBe('stored')
})

test('what was reported when the line ended is not called stored', async () => {
  const { driver, ended, end } = runHeld()
  end()
  await ended

  const late = await driver.receive(KEY, { id: 'a', from: '+12025550123', text: '', at: null })

  expect(late).toBe('not_ready')
})

test('of messages that nobody reports the newest thousand are remembered', () => {
  const handedOut = new HandedOut(new TestClock(), [])

  for (let i = 0; i <= 1_000; i += 1) void handedOut.wait(messageWith(`msg_${i}`), NEVER)

  expect(handedOut.find('msg_0')).toBeNull()
  expect(handedOut.find('msg_1')).not.toBeNull()
})
