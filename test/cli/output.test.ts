// What strangers write must not steer the owner's terminal, whichever command prints it.

import { expect, test } from 'bun:test'

import { createOutput } from '../../src/cli/output.ts'
import { printable, row, table } from '../../src/cli/table.ts'
import { IN_PIPE } from './recorded-output.ts'

/** Clears the screen, sets the title and the clipboard, turns the direction, by C1 controls too. */
const HOSTILE =
  'hi \u001B]0;owned\u0007\u001B[2J\u001B[1;31mfake\u001B]52;c;cm0gLXJm\u0007 \u009B31m\u202Etxt.exe\u2069 \r\nx\u0000'
const STEERS = /[^\P{Cc}\t\n]|[\u202A-\u202E\u2066-\u2069]/u

/** An output that keeps what is printed, on either of the two. */
function recorded(isJson: boolean) {
  const said: string[] = []
  const say = (text: unknown) => void said.push(String(text))
  const style = { ...IN_PIPE, isJson, isQuiet: false, isWatched: false }
  return { out: createOutput(style, { log: say, error: say }), said }
}

for (const isJson of [false, true]) {
  test(`nothing that a command prints ${isJson ? 'as JSON ' : ''}steers a terminal`, () => {
    const { out, said } = recorded(isJson)

    out.data({ text: HOSTILE }, [HOSTILE, row(HOSTILE), table([HOSTILE], [[HOSTILE]])])
    out.note(HOSTILE)
    out.problem(HOSTILE)

    expect(said.join('\n')).not.toMatch(STEERS)
    expect(said.join('\n')).toContain('fake')
  })
}

test('JSON for programs has the same meaning as before', () => {
  const { out, said } = recorded(true)

  out.data({ text: HOSTILE }, [])

  expect(JSON.parse(said.join())).toEqual({ text: HOSTILE })
})

test('letters, emoji, right-to-left texts and tabs stay as they are', () => {
  const text = 'Zoë 👩‍👩‍👧 שלום العربية\t日本'

  expect(printable(text)).toBe(text)
})
