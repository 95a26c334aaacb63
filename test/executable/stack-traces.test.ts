// The stack traces of a log, which name places in the bundle, with the map that comes with the executable.

import { expect, test } from 'bun:test'
import { chmodSync } from 'node:fs'

import { builtExecutable, hookline } from '../support/executable.ts'
import { temporaryDataDir } from '../support/relay-process.ts'
import { ROOT } from '../support/source-files.ts'

test('a stack trace in the log leads to the sources by the map beside the executable', async () => {
  using dir = temporaryDataDir()
  chmodSync(dir.path, 0o755)
  const { stderr: log } = await hookline(['serve', '--data-dir', dir.path])

  const script = `${ROOT}/scripts/resolve-trace.ts`
  const command = [process.execPath, script, `${builtExecutable()}.map`]
  const { stdout } = Bun.spawnSync(command, { stdin: Buffer.from(log) })

  const resolved = stdout.toString()
  expect(framesIn(log)[0]).toMatch(/^at requirePrivate \(\/\$bunfs\/root\/chunk-\w+\.js:\d+:\d+\)$/)
  expect(framesIn(resolved)[0]).toMatch(
    /^at requirePrivate \(src\/system\/data-directory\.ts:\d+:\d+\)$/,
  )
  expect(framesIn(resolved).every((frame) => frame.includes('(src/'))).toBe(true)
  // All else in the log is as it was.
  expect(withoutFrames(resolved)).toEqual(withoutFrames(log))
})

type Entry = { readonly error: { readonly stack: readonly string[] } }

function entryOf(log: string): Entry {
  return JSON.parse(log.split('\n')[0] ?? '') as Entry // The relay's own log.
}

function framesIn(log: string): readonly string[] {
  return entryOf(log).error.stack
}

function withoutFrames(log: string) {
  return { ...entryOf(log), error: { ...entryOf(log).error, stack: [] } }
}
