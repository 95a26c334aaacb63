// What the doctor says of iPhones on the cable: how far each has come, and the screens that nobody knew.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import { writeFileAtomically } from '../system/files.ts'
import { rowOf, rowsOf, textOf, type Row } from './answers.ts'
import type { Call } from './command.ts'
import { fields } from './table.ts'

/** One paragraph for each phone. */
export function phoneLines(phones: readonly Row[]): readonly string[] {
  return phones.flatMap((phone) => {
    const states = statesOf(phone)
    return [`${headOf(phone)}${states.length === 0 ? ': online' : ''}`, ...states, '']
  })
}

/** Writes a file for each phone that shows something unknown, and says which. */
export function writeScreens(call: Call, phones: readonly Row[], folder: string): void {
  const unknown = phones.filter((phone) => textOf(phone, 'unknown_screen') !== '')
  if (unknown.length === 0)
    call.out.note('No iPhone has shown a screen that Hookline does not know.')
  for (const phone of unknown) {
    const path = join(folder, `screen-${endOf(phone)}.txt`)
    mkdirSync(folder, { recursive: true })
    writeFileAtomically(path, `${headOf(phone)}\n${textOf(phone, 'unknown_screen')}\n`)
    call.out.note(`The screen of the iPhone is in ${path}: no text, name or number is in it.`)
  }
}

/** Neither its name nor its whole id: the line stands at the head of what is sent to others. */
function headOf(phone: Row): string {
  const battery = textOf(phone, 'battery_percent')
  const facts = [
    `iPhone …${endOf(phone)}`,
    textOf(phone, 'ios_version') === '' ? '' : `iOS ${textOf(phone, 'ios_version')}`,
    battery === '' ? '' : `battery ${battery} %`,
  ]
  return facts.filter((fact) => fact !== '').join(', ')
}

function endOf(phone: Row): string {
  return textOf(phone, 'key').slice(-6)
}

/** A row for each state up to the first that is not reached, which says why; none where all are. */
function statesOf(phone: Row): readonly string[] {
  const states = rowsOf({ data: phone['states'] })
  const reached = states.filter((state) => state['is_reached'] === true)
  const next = states[reached.length]
  if (next === undefined) return []
  const title = textOf(rowOf(phone['stop']), 'title')
  const rows = [
    // Each phone that is listed has been there.
    ...reached.slice(1).map((state) => [inWords(state), 'yes'] as const),
    [inWords(next), title === '' ? 'not yet' : `no: ${title}`] as const,
  ]
  return fields(rows).map((row) => `    ${row}`)
}

function inWords(state: Row): string {
  return textOf(state, 'state').replaceAll('_', ' ')
}
