// The one AppleScript and what reaches it. No Mac compiles it here: what can be told from its text is
// that it is whole, and that nothing but arguments varies.

import { expect, test } from 'bun:test'

import {
  MessagesScript,
  type ScriptAnswer,
  type Target,
} from '../../../src/drivers/mac/script-runner.ts'
import { MESSAGES_SCRIPT } from '../../../src/drivers/mac/script.ts'
import { systemClock } from '../../../src/system/clock.ts'
import { processRunner } from '../../../src/system/process.ts'
import { StandIn } from '../../support/mac/stand-ins/stand-in.ts'
import { ScratchFolder } from '../../support/scratch-folder.ts'

const NEVER = new AbortController().signal
const CHAT: Target = { by: 'chat', guid: 'iMessage;-;+12025550123' }
const PERSON: Target = { by: 'participant', handle: '+12025550123' }
const DONE = 'printf "done\\t0\\t\\n"'

const HOSTILE: readonly string[] = [
  '"',
  "'",
  '\\',
  '\\"',
  '¬\n',
  '\n',
  '\r\n',
  '\t',
  '\u2028',
  '-',
  '--',
  '-e',
  '-l JavaScript',
  '" & (do shell script "id") & "',
  'end tell\nend run\n',
  'tell application "Finder" to quit',
  '«class utf8»',
  '(* comment *)',
  '-- comment',
  '#!/bin/sh',
  '$(id)',
  '`id`',
  '${HOME}',
  '; exit 1;',
  '&& false',
  '| cat',
  '> /dev/null',
  '*',
  '~',
  '!!',
  '%s%n%99$s',
  '%',
  '\u202eright to left\u202c',
  'שלום עולם',
  'مرحبا بالعالم',
  '👩‍👩‍👧‍👦',
  '🏳️‍🌈',
  '\u{1f600}\u{10ffff}',
  'e\u0301 é',
  '\ufeff',
  '\ufffc',
  '\u0001\u001b[31m\u007f',
  ' ',
  '{"a":1}',
  '<a href="x">&amp;</a>',
  'done\t0\t\n',
  'argv',
  'item 1 of argv',
  'x'.repeat(20_000),
  '😀'.repeat(20_000),
]

test('the script is whole: in ASCII, each block closed, the send alone in its own try', () => {
  const lines = MESSAGES_SCRIPT.split('\n').map((line) => line.trim())
  const sendAt = lines.indexOf('send theText to theTarget')

  expect(MESSAGES_SCRIPT).toMatch(/^[\t\n\x20-\x7e]*$/)
  expect(openBlocks(lines)).toEqual([])
  expect(lines.filter((line) => /\bsend \w|shell|run script|\beval/.test(line))).toEqual([
    'send theText to theTarget',
  ])
  expect(lines.slice(sendAt - 4, sendAt + 8)).toEqual([
    'if theMode is not "send" then return my lineOf("done", 0, "")',
    'try',
    'tell application "Messages"',
    'with timeout of 25 seconds',
    'send theText to theTarget',
    'end timeout',
    'end tell',
    'on error number theNumber',
    'return my lineOf("send", theNumber, "")',
    'end try',
    'return my lineOf("done", 0, "")',
    'end run',
  ])
})

test('each mode hands the constant script and its values to osascript', async () => {
  using folder = new ScratchFolder()
  const { osascript, script } = realScript(folder)
  osascript.plays(DONE)

  await script.account(NEVER)
  await script.check(CHAT, NEVER)
  await script.check(PERSON, NEVER)
  await script.send(CHAT, 'Hello')
  await script.send(PERSON, '-e "return 1"')

  expect(osascript.calls()).toEqual([
    ['-', 'account', '', '', ''],
    ['-', 'check', 'chat', 'iMessage;-;+12025550123', ''],
    ['-', 'check', 'participant', '+12025550123', ''],
    ['-', 'send', 'chat', 'iMessage;-;+12025550123', 'Hello'],
    ['-', 'send', 'participant', '+12025550123', '-e "return 1"'],
  ])
  expect(osascript.input()).toBe(MESSAGES_SCRIPT)
})

test('hostile texts reach osascript byte for byte, and never its script', async () => {
  using folder = new ScratchFolder()
  const { osascript, script } = realScript(folder)
  osascript.plays(DONE)

  const answers: ScriptAnswer[] = []
  for (const text of HOSTILE) answers.push(await script.send(PERSON, text))

  expect(answers).toEqual(HOSTILE.map(() => ({ answer: 'done' })))
  expect(osascript.calls()).toEqual(
    HOSTILE.map((text) => ['-', 'send', 'participant', '+12025550123', text]),
  )
  expect(osascript.input()).toBe(MESSAGES_SCRIPT)
})

test('five hundred mixtures of hostile texts arrive as the arguments that they were', async () => {
  using folder = new ScratchFolder()
  const { osascript } = realScript(folder)
  const run = processRunner(systemClock)
  const batches = Array.from({ length: 10 }, (_, batch) => mixtures(batch * 50, 50))

  for (const args of batches) {
    const limits = { timeoutMs: 35_000, killAfterMs: 38_000 }
    await run({ path: osascript.path, args: ['-', ...args], ...limits }, NEVER)
  }

  expect(new Set(batches.flat()).size).toBe(500)
  expect(osascript.calls()).toEqual(batches.map((args) => ['-', ...args]))
})

function realScript(folder: ScratchFolder) {
  const osascript = new StandIn(folder, 'osascript')
  const run = processRunner(systemClock)
  return { osascript, script: new MessagesScript({ run, osascriptPath: osascript.path }) }
}

/** The names of the blocks that are open at the end, or closed without having been opened. */
function openBlocks(lines: readonly string[]): readonly string[] {
  const open: string[] = []
  for (const line of lines) {
    const closed = /^end (\w+)$/.exec(line)?.[1]
    if (closed !== undefined) {
      if (open.at(-1) !== closed) return [...open, line]
      open.pop()
    }
    const opened = /^(?:(try|tell|if)\b(?!.* then .)|with (timeout)|on (?!error)(\w+))/.exec(line)
    const name = opened?.slice(1).find((word) => word !== undefined)
    if (name !== undefined) open.push(name)
  }
  return open
}

/** `count` texts, different for each `from`: three hostile ones after each other, and a number. */
function mixtures(from: number, count: number): readonly string[] {
  const short = HOSTILE.filter((text) => text.length < 100)
  return Array.from({ length: count }, (_, index) => {
    const at = from + index
    return [at, at * 7 + 1, at * 11 + 2].map((n) => short[n % short.length]).join('') + at
  })
}
