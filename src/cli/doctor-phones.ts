// The doctor's report on iPhones on the cable: the progress of each, and its unknown screens.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'

import type { Phone } from '../api/owner.ts'
import { writeFileAtomically } from '../system/files.ts'
import type { Call } from './command.ts'
import { fields } from './table.ts'

/** A paragraph for each phone. */
export function phoneLines(phones: readonly Phone[]): readonly string[] {
  return phones.flatMap((phone) => {
    const states = statesOf(phone)
    return [`${headOf(phone)}${states.length === 0 ? ': online' : ''}`, ...states, '']
  })
}

/** Writes a file for each phone that shows an unknown screen, and prints its path. */
export function writeScreens(call: Call, phones: readonly Phone[], folder: string): void {
  const unknown = phones.filter(({ unknown_screen }) => unknown_screen !== null)
  if (unknown.length === 0)
    call.out.note('No iPhone has shown a screen that Hookline does not know.')
  for (const phone of unknown) {
    const path = join(folder, `screen-${endOf(phone.key)}.txt`)
    mkdirSync(folder, { recursive: true })
    writeFileAtomically(path, `${headOf(phone)}\n${phone.unknown_screen}\n`)
    call.out.note(`The screen of the iPhone is in ${path}: no text, name or number is in it.`)
  }
}

/** Without the name and the whole id: the line is the head of a file that is sent to others. */
function headOf({ key, ios_version, battery_percent }: Phone): string {
  const facts = [
    `iPhone …${endOf(key)}`,
    ...(ios_version === null ? [] : [`iOS ${ios_version}`]),
    ...(battery_percent === null ? [] : [`battery ${battery_percent} %`]),
  ]
  return facts.join(', ')
}

function endOf(key: string): string {
  return key.slice(-6)
}

/** A row for each stage up to the first that is not reached, with its reason; none where all are. */
function statesOf({ states, stop }: Phone): readonly string[] {
  const reached = states.filter(({ is_reached }) => is_reached)
  const next = states[reached.length]
  if (next === undefined) return []
  const rows = [
    // Each phone that is listed has reached the first stage.
    ...reached.slice(1).map(({ state }) => [inWords(state), 'yes'] as const),
    [inWords(next.state), stop === null ? 'not yet' : `no: ${stop.title}`] as const,
  ]
  return fields(rows).map((row) => `    ${row}`)
}

function inWords(state: string): string {
  return state.replaceAll('_', ' ')
}
