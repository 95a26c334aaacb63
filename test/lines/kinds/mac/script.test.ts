// The one AppleScript and what reaches it. No Mac compiles it here: what can be seen in its text is
// that it is whole, and that nothing but its input varies.

import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'

import { MessagesScript, type Target } from '../../../../src/lines/kinds/mac/script-runner.ts'
import { MESSAGES_SCRIPT } from '../../../../src/lines/kinds/mac/script.ts'
import { NEVER, systemClock } from '../../../../src/system/clock.ts'
import { processRunner } from '../../../../src/system/process.ts'
import { StandIn } from '../../../support/mac/stand-ins/stand-in.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'

const CHAT: Target = { by: 'chat', guid: 'iMessage;-;+12025550123' }
const PERSON = { by: 'participant', handle: '+12025550123' } as const
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
  const sendAt = lines.indexOf('send theContent to theTarget')

  expect(MESSAGES_SCRIPT).toMatch(/^[\t\n\x20-\x7e]*$/)
  expect(openBlocks(lines)).toEqual([])
  expect(lines.filter((line) => /\bsend \w|shell|run script|\beval/.test(line))).toEqual([
    'send theContent to theTarget',
  ])
  expect(lines.slice(sendAt - 4, sendAt + 8)).toEqual([
    'if theMode is "check" then return my lineOf("done", 0, "")',
    'try',
    'tell application "Messages"',
    'with timeout of theLimit seconds',
    'send theContent to theTarget',
    'end timeout',
    'end tell',
    'on error number theNumber',
    'return my lineOf("send", theNumber, "")',
    'end try',
    'return my lineOf("done", 0, "")',
    'end run',
  ])
})

test('no property of an account stops the script: each is read in a try of its own', () => {
  const handlers = [...MESSAGES_SCRIPT.matchAll(/^on (\w+)\(theAccount\)\n([^]*?)^end \1$/gm)]
  const properties = /\b(?:enabled|connection status|service type) of theAccount\b/g

  const reading = handlers.filter(([, , body = '']) => body.match(properties) !== null)

  expect(MESSAGES_SCRIPT.match(properties)?.length).toBe(3)
  expect(reading.map(([, name]) => name)).toEqual(['enabledOf', 'connectionOf', 'serviceOf'])
  for (const [, , body = ''] of reading) {
    expect(body).toMatch(/^\ttry\n[^]*\n\tend try\n\treturn "unknown"\n$/)
  }
})

const ARGS = ['-l', 'AppleScript', '-e', MESSAGES_SCRIPT]

test('each mode hands osascript the same arguments, and what varies on standard input', async () => {
  using folder = new ScratchFolder()
  const { osascript, script } = realScript(folder)
  osascript.plays(DONE)
  const inputs: unknown[] = []
  const after = async (run: Promise<unknown>) => {
    await run
    inputs.push(JSON.parse(osascript.input()))
  }

  await after(script.account(NEVER))
  await after(script.check(CHAT, NEVER))
  await after(script.check(PERSON, NEVER))
  await after(script.check({ ...PERSON, service: 'SMS' }, NEVER))
  await after(script.send(CHAT, 'Hello', NEVER))
  await after(script.send(PERSON, '-e "return 1"', NEVER))
  await after(script.send(CHAT, { path: '/tmp/a "b".pdf' }, NEVER))

  const key = 'iMessage;-;+12025550123'
  const plain = { key: '+12025550123', service: 'iMessage', text: '', path: '' }
  expect(osascript.calls()).toEqual(inputs.map(() => ARGS))
  expect(inputs).toEqual([
    { mode: 'account', route: '', ...plain, key: '' },
    { mode: 'check', route: 'chat', ...plain, key },
    { mode: 'check', route: 'participant', ...plain },
    { mode: 'check', route: 'participant', ...plain, service: 'SMS' },
    { mode: 'send', route: 'chat', ...plain, key, text: 'Hello' },
    { mode: 'send', route: 'participant', ...plain, text: '-e "return 1"' },
    { mode: 'send_file', route: 'chat', ...plain, key, path: '/tmp/a "b".pdf' },
  ])
})

test('hostile texts reach osascript as they are, and never its arguments', async () => {
  using folder = new ScratchFolder()
  const { osascript, script } = realScript(folder)
  osascript.plays(DONE)

  const texts: unknown[] = []
  for (const text of HOSTILE) {
    await script.send(PERSON, text, NEVER)
    texts.push(JSON.parse(osascript.input()).text)
  }

  expect(texts).toEqual([...HOSTILE])
  expect(osascript.calls()).toEqual(HOSTILE.map(() => ARGS))
})

test('while a send runs, ps shows neither its text nor its recipient', async () => {
  using folder = new ScratchFolder()
  const { osascript, script } = realScript(folder)
  // As ps does; the process of the stand-in is the child that osascript would be.
  osascript.plays(`ps -ww -o args= -p $$ > "$0.ps"; ${DONE}`)

  const answer = await script.send(PERSON, 'your test result is POSITIVE', NEVER)

  const shown = readFileSync(`${osascript.path}.ps`, 'utf8')
  expect(answer).toEqual({ answer: 'done' })
  expect(shown).toContain('AppleScript')
  expect(shown).not.toMatch(/POSITIVE|2025550123/)
})

function realScript(folder: ScratchFolder) {
  const osascript = new StandIn(folder, 'osascript')
  const run = processRunner(systemClock)
  const script = new MessagesScript({ run, clock: systemClock }, osascript.path, () => {})
  return { osascript, script }
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
    const opened = /^(?:(try|tell|repeat|if)\b(?!.* then .)|with (timeout)|on (?!error)(\w+))/.exec(
      line,
    )
    const name = opened?.slice(1).find((word) => word !== undefined)
    if (name !== undefined) open.push(name)
  }
  return open
}
