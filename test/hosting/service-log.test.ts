import { expect, test } from 'bun:test'
import { appendFileSync, existsSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'

import { LOG_BYTES_MAX, logRotation, FileLog, JournalLog } from '../../src/hosting/service-log.ts'
import { recordingLog } from '../support/recording-log.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'
import { NEVER, RecordingTools } from './recording-tools.ts'

const JOURNALCTL = ['/usr/bin/journalctl', '--user', '--unit=hookline.service']
const PLAIN = ['--output=cat', '--quiet', '--no-pager', '--show-cursor']

test('the journal is read on from where it was read to', async () => {
  const answers = ['one\ntwo\n-- cursor: s=a;i=1\n', '', 'three\n-- cursor: s=a;i=2\n', '']
  const tools = new RecordingTools(() => ({ stdout: answers.shift() ?? '' }))
  const log = new JournalLog(tools.run, 'hookline.service')

  const lines = [await log.newest(50, NEVER)]
  for (let i = 0; i < 3; i += 1) lines.push(await log.more(NEVER))

  expect(lines).toEqual([['one', 'two'], [], ['three'], []])
  expect(tools.calls).toEqual([
    [...JOURNALCTL, ...PLAIN, '--lines=50'],
    [...JOURNALCTL, ...PLAIN, '--lines=500', '--after-cursor=s=a;i=1'],
    [...JOURNALCTL, ...PLAIN, '--lines=500', '--after-cursor=s=a;i=1'],
    [...JOURNALCTL, ...PLAIN, '--lines=500', '--after-cursor=s=a;i=2'],
  ])
})

test('a journal that cannot be read is reported', async () => {
  const tools = new RecordingTools(() => ({ exitCode: 1, stderr: 'No journal files were found.' }))

  await expect(new JournalLog(tools.run, 'hookline.service').newest(1, NEVER)).rejects.toThrow(
    'Cannot read the journal: No journal files were found. (/usr/bin/journalctl ended with 1)',
  )
})

test('the newest lines of the file come first, then what is added, each line whole', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('relay.log')
  writeFileSync(path, 'one\ntwo\nthree\n')
  const log = new FileLog(path)

  const newest = await log.newest(2)
  appendFileSync(path, 'four\nfi')
  const more = await log.more()
  appendFileSync(path, 've\n')
  const rest = [await log.more(), await log.more()]

  expect([newest, more, ...rest]).toEqual([['two', 'three'], ['four'], ['five'], []])
})

test('a file that was emptied is read from its beginning', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('relay.log')
  writeFileSync(path, 'a long line that was there before\nand half a')
  const log = new FileLog(path)
  await log.newest(10)

  truncateSync(path)
  appendFileSync(path, 'new\n')

  expect(await log.more()).toEqual(['new'])
})

test('a log that does not exist has no lines', async () => {
  using folder = new ScratchFolder()
  const log = new FileLog(folder.file('relay.log'))

  expect([await log.newest(10), await log.more()]).toEqual([[], []])
})

test('of a huge file only the end is read', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('relay.log')
  writeFileSync(path, `${'x'.repeat(9_000_000)}\nthe end\n`)

  expect(await new FileLog(path).newest(10)).toEqual(['the end'])
})

test('a log above 50 MB is kept under another name and emptied, at the start and every hour', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('relay.log')
  const clock = new TestClock()
  const rotation = logRotation(path, { clock, log: recordingLog().log })
  const stop = new AbortController()
  writeFileSync(path, 'x'.repeat(LOG_BYTES_MAX))

  const running = rotation.run(stop.signal)
  await clock.advance(1)
  const atLimit = existsSync(`${path}.1`)
  appendFileSync(path, 'y')
  await clock.advance(3_600_000)
  stop.abort()
  await running

  expect(atLimit).toBe(false)
  expect([Bun.file(path).size, Bun.file(`${path}.1`).size]).toEqual([0, LOG_BYTES_MAX + 1])
})

test('what is written into a log that stays open goes on at its beginning', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('relay.log')
  // As launchd opens it for the relay.
  const child = Bun.spawn(['/bin/sh', '-c', `exec >>"${path}"; read line; echo "$line"`], {
    stdin: 'pipe',
  })
  writeFileSync(path, 'x'.repeat(LOG_BYTES_MAX + 1))
  const stop = new AbortController()
  const tools = { clock: new TestClock(), log: recordingLog().log }

  const running = logRotation(path, tools).run(stop.signal)
  stop.abort()
  await running
  await child.stdin.write('after\n')
  await child.stdin.end()
  await child.exited

  expect(readFileSync(path, 'utf8')).toBe('after\n')
})
