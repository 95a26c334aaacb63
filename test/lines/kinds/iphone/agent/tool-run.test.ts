// What is kept of the words of a program that lives on, and how it is ended.

import { expect, test } from 'bun:test'

import { LastLines } from '../../../../../src/lines/kinds/iphone/agent/last-lines.ts'
import {
  ToolRun,
  untilEnd,
  type ToolOrder,
} from '../../../../../src/lines/kinds/iphone/agent/tool-run.ts'
import { startReadProcess, type ReadProcess } from '../../../../../src/system/process.ts'
import { TestClock } from '../../../../support/test-clock.ts'

test('lines are kept as they come, in whatever pieces, each output by itself', () => {
  const text = new TextEncoder().encode('one\n\nzwölf 😀\nthr')
  const said = new LastLines()

  for (const byte of text) {
    said.take(Uint8Array.of(byte), 'stdout')
    if (byte === 0x6f) said.take(new TextEncoder().encode('other\nha'), 'stderr')
  }

  expect(said.all()).toEqual(['other', 'one', 'zwölf 😀', 'thr', 'ha'])
})

test('of a line the first 4,096 bytes are kept, and what comes after it is whole', () => {
  const said = new LastLines()

  said.take(new TextEncoder().encode('x'.repeat(4_000)), 'stdout')
  said.take(new TextEncoder().encode('y'.repeat(1_000_000)), 'stdout')
  said.take(new TextEncoder().encode(`${'z'.repeat(10)}\nnext\n`), 'stdout')

  expect(said.all()).toEqual([`${'x'.repeat(4_000)}${'y'.repeat(96)}`, 'next'])
})

test('of a program that says a megabyte the last 64 KiB are kept', async () => {
  const clock = new TestClock()
  const script = 'i=0; while [ $i -lt 2000 ]; do echo "$i $1"; i=$((i + 1)); done; exit 4'
  const tool = new ToolRun({ clock, start: startReadProcess }, shell(script, 'x'.repeat(500)))

  const { exitCode, ranMs, lines } = await tool.ended

  const sizes = lines.map((line) => line.length)
  const total = sizes.reduce((sum, size) => sum + size, 0)
  expect([exitCode, ranMs]).toEqual([4, 0])
  expect(lines.at(-1)).toStartWith('1999 ')
  expect(lines.length).toBe(129)
  expect(total).toBeLessThanOrEqual(65_536)
})

test('what a program has said can be read while it runs', async () => {
  const clock = new TestClock()
  const tool = new ToolRun({ clock, start: startReadProcess }, shell('echo here; exec sleep 60'))

  while (tool.lines().length === 0) await Bun.sleep(5)
  await tool.stop()

  expect(tool.lines()).toEqual(['here'])
})

test('a program that has ended is sent no signal, as its id may be that of another', async () => {
  const child = scripted()
  const clock = new TestClock()
  const tool = new ToolRun({ clock, start: () => child.tool }, shell(''))

  child.end()
  await tool.ended
  await tool.stop()

  expect(child.signals).toEqual([])
})

test('a program that not even force ends is left behind after ten seconds', async () => {
  const child = scripted()
  const clock = new TestClock()
  const tool = new ToolRun({ clock, start: () => child.tool }, shell(''))
  let hasStopped = false

  const stopping = tool.stop().then(() => {
    hasStopped = true
    return null
  })
  void tool.stop()
  await clock.advance(4_999)
  const first = [...child.signals]
  await clock.advance(5_000)
  const early = hasStopped
  await clock.advance(1)
  await stopping

  expect(first).toEqual(['SIGTERM'])
  expect(child.signals).toEqual(['SIGTERM', 'SIGKILL'])
  expect(early).toBe(false)
})

test('a child of the program that holds its output open is waited for one second', async () => {
  const child = scripted()
  child.holdOutput()
  const clock = new TestClock()
  const tool = new ToolRun({ clock, start: () => child.tool }, shell(''))
  let hasEnded = false
  const ending = tool.ended.then((end) => {
    hasEnded = true
    return end
  })

  child.end()
  await clock.advance(999)
  const early = hasEnded
  await clock.advance(1)

  expect(await ending).toEqual({ exitCode: 0, ranMs: 0, lines: [] })
  expect([early, child.isClosed()]).toEqual([false, true])
})

test('an abort ends a program that is waited for', async () => {
  const clock = new TestClock()
  const tools = { clock, start: startReadProcess }
  const [early, late] = [new AbortController(), new AbortController()]
  early.abort()

  const one = new ToolRun(tools, shell('exec sleep 60'))
  const other = new ToolRun(tools, shell('exec sleep 60'))
  const first = await untilEnd(one, early.signal)
  const second = untilEnd(other, late.signal)
  late.abort()
  const third = await untilEnd(new ToolRun(tools, shell('exit 2')), new AbortController().signal)

  expect([first, await second]).toEqual([null, null])
  expect([(await one.ended).exitCode, (await other.ended).exitCode]).toEqual([null, null])
  expect(third?.exitCode).toBe(2)
})

function shell(script: string, ...args: readonly string[]): ToolOrder {
  return { path: '/bin/sh', args: ['-c', script, 'sh', ...args], environment: {} }
}

/** A child that does what the test says. */
function scripted() {
  const ended = Promise.withResolvers<number>()
  const output = Promise.withResolvers<void>()
  const signals: string[] = []
  let isHeld = false
  let isClosed = false
  const tool: ReadProcess = {
    pid: 1,
    ended: ended.promise,
    kill: (signal) => void signals.push(signal),
    outputEnded: output.promise,
    closeOutput() {
      isClosed = true
    },
  }
  return {
    tool,
    signals,
    isClosed: () => isClosed,
    holdOutput() {
      isHeld = true
    },
    end() {
      ended.resolve(0)
      if (!isHeld) output.resolve()
    },
  }
}
