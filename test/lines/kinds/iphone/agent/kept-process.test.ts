import { expect, test } from 'bun:test'

import { KeptProcess } from '../../../../../src/lines/kinds/iphone/agent/kept-process.ts'
import { startReadProcess } from '../../../../../src/system/process.ts'
import { testHost } from '../../../../support/kind-host.ts'
import { TestClock } from '../../../../support/test-clock.ts'

test('of a program that writes a megabyte the last 16 KiB of each output are kept', async () => {
  const script = 'i=0; while [ $i -lt 2000 ]; do echo "$i $1"; i=$((i + 1)); done; exit 4'
  const words = ['/bin/sh', '-c', script, 'sh', 'x'.repeat(500)]
  const process = new KeptProcess(
    testHost({ clock: new TestClock(), startRead: startReadProcess }),
    words,
  )

  const { exitCode, lines } = await process.ended

  expect(exitCode).toBe(4)
  expect(lines.at(-1)).toStartWith('1999 ')
  expect(lines.join('\n').length).toBeLessThanOrEqual(16_384)
})

test('a process is asked to end, forced to after five seconds and left behind after ten; an ended one gets no signal', async () => {
  const clock = new TestClock()
  const signals: string[] = []
  const ended = Promise.withResolvers<number>()
  const startRead = () => ({
    pid: 1,
    ended: ended.promise,
    kill: (signal: string) => void signals.push(signal),
    outputEnded: new Promise<void>(() => {}),
    closeOutput: () => {},
  })
  const process = new KeptProcess(testHost({ clock, startRead }), ['/bin/sh'])
  const stopping = process.stop()
  await clock.advance(4_999)
  const early = [...signals]
  await clock.advance(5_001)
  await stopping
  const sent = [...signals]

  const other = new KeptProcess(testHost({ clock, startRead }), ['/bin/sh'])
  ended.resolve(0)
  await clock.advance(1_000)
  await other.ended
  await other.stop()

  expect(early).toEqual(['SIGTERM'])
  expect(sent).toEqual(['SIGTERM', 'SIGKILL'])
  expect(signals).toEqual(sent)
})
