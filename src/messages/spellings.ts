// Devices spell a person's handle in many ways. Every event of every line passes here and gets normalized handles.

import { homeOfNumber, personOf, type Handle } from '../domain/handle.ts'
import type { Line } from '../domain/line.ts'
import type { DeviceChange, DeviceGroup, DeviceMessage, IntakeEvent } from '../lines/driver.ts'
import type { Db } from '../storage/database.ts'
import { isKeptApart } from '../storage/merges.ts'
import { memoize } from '../system/memoize.ts'

/** Cached line numbers with their country: parsing one takes up to 100 µs. */
const NUMBERS_MAX = 1_000

/** Returns the person behind a spelling on a line, unless the owner has separated the two. */
export type PersonOn = (line: Pick<Line, 'id' | 'number'>, spelling: Handle) => Handle

export function createPersonOn(db: Db): PersonOn {
  const homeOf = memoize(NUMBERS_MAX, homeOfNumber)
  return ({ id, number }, spelling) => {
    const person = personOf(spelling, homeOf(number))
    return person === spelling || !isKeptApart(db, id, spelling) ? person : spelling
  }
}

/** `handle` is the person; `spelling` is the device's handle if it differs. */
export type ReadMessage = DeviceMessage & { readonly spelling?: Handle | undefined }

export type ReadEvent =
  | Exclude<IntakeEvent, { readonly type: 'message' }>
  | (Extract<IntakeEvent, { readonly type: 'message' }> & { readonly message: ReadMessage })

/** Replaces spellings with people; a group's identifier stays. Intake calls it for each event. */
export function withPeople(event: IntakeEvent, person: (spelling: Handle) => Handle): ReadEvent {
  if (event.type === 'change') return { ...event, change: changeOf(event.change, person) }
  if (event.type !== 'message') return event
  const { message } = event
  const { handle: spelling, group, isFromMe } = message
  const handle = group !== undefined && isFromMe ? spelling : person(spelling)
  if (handle === spelling && group === undefined) return event
  const read = {
    ...message,
    handle,
    ...(handle !== spelling && { spelling }),
    ...(group !== undefined && { group: groupOf(group, person) }),
  }
  return { ...event, message: read }
}

function changeOf(change: DeviceChange, person: (spelling: Handle) => Handle): DeviceChange {
  const group = change.group && { group: groupOf(change.group, person) }
  if (change.kind === 'reaction') return { ...change, ...group, handle: person(change.handle) }
  if (change.kind !== 'group') return { ...change, ...group }
  const actor = change.actor && person(change.actor)
  const target = change.target && person(change.target)
  return { ...change, group: groupOf(change.group, person), actor, target }
}

function groupOf(group: DeviceGroup, person: (spelling: Handle) => Handle): DeviceGroup {
  return { ...group, participants: [...new Set(group.participants.map(person))] }
}
