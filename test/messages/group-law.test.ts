// The law of groups: a row of a group is never announced as a message between two, whatever comes before and
// after it. Random histories against a model that knows of each row only whether it is a group's.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp } from '../../src/domain/ids.ts'
import type {
  DeviceAttachment,
  DeviceChange,
  DeviceGroup,
  LineEvent,
} from '../../src/lines/driver.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { ScriptedDriver, type ScriptedDevice } from '../support/scripted-driver.ts'
import { startRelay } from '../support/test-relay.ts'

const HISTORIES = 1_000 * SCALE
const AT_ONCE = 50
const AT = timestamp(1_795_255_100_000)
const PEOPLE = ['+12025550771', '+12025550772', '+12025550773'].map(deviceHandle)
/** The last two have the same members; one has the handle of a person for its identifier. */
const GROUPS = ['chat-a', 'chat-b', PEOPLE[0] ?? '']

const step = fc.record({
  what: fc.constantFrom(
    'group',
    'direct',
    'lost',
    'again',
    'change',
    'renamed',
    'left_out',
    'file',
  ),
  group: fc.nat(GROUPS.length - 1),
  person: fc.nat(PEOPLE.length - 1),
  guidPrefix: fc.constantFrom('iMessage;+;', 'any;+;'),
  row: fc.nat(9),
  isFromMe: fc.boolean(),
  isPending: fc.boolean(),
  namesGroup: fc.boolean(),
  change: fc.constantFrom('reaction', 'edited', 'unsent'),
})
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never
const history = fc.record({
  isRelayed: fc.boolean(),
  steps: fc.array(step, { minLength: 2, maxLength: 10 }),
})

/** What is true of a row: the first report of it counts. */
type Row = { readonly isGroup: boolean; readonly isAnnounced: boolean }

class History {
  readonly rows = new Map<string, Row>()
  readonly #name: string
  readonly #isRelayed: boolean
  readonly #knownGroups = new Set<string>()

  constructor(name: string, isRelayed: boolean) {
    this.#name = name
    this.#isRelayed = isRelayed
  }

  eventOf(step: Step): LineEvent {
    const guid = `${this.#name}-${step.row}`
    const checkpoint = guid
    switch (step.what) {
      case 'group':
      case 'again':
        return { type: 'message', message: this.#groupMessage(guid, step), checkpoint }
      case 'direct':
      case 'file':
        return { type: 'message', message: this.#direct(guid, step), checkpoint }
      case 'lost':
        return { type: 'message', message: this.#lost(guid, step), checkpoint }
      case 'left_out':
        this.#note(guid, { isGroup: true, isAnnounced: false })
        return { type: 'left_out', leftOut: { guid, kind: 'unplaced', at: AT }, checkpoint }
      case 'renamed':
        return { type: 'change', change: this.#renamed(guid, step), checkpoint }
      case 'change':
        return { type: 'change', change: this.#changed(guid, step), checkpoint }
    }
  }

  #renamed(guid: string, step: Step) {
    const group = this.#group(step)
    if (this.#isPlaced(step)) this.#knownGroups.add(group.identifier)
    const rename = { kind: 'group', change: 'renamed', actor: null, target: null } as const
    const row = { guid: `${guid}-named-${step.group}-${step.person}`, at: AT, isHistory: false }
    return { ...rename, ...row, group }
  }

  #changed(guid: string, step: Step): DeviceChange {
    const group = step.namesGroup ? this.#group(step) : undefined
    const isKept = !this.rows.has(guid)
    if (isKept && group !== undefined && this.#isPlaced(step))
      this.#knownGroups.add(group.identifier)
    const { change, person, namesGroup } = step
    const own = `${guid}-${change}-${person}-${namesGroup}-${step.group}`
    const row = { guid: own, targetGuid: guid, at: AT, isHistory: false }
    return { ...row, ...changeOf(step), group }
  }

  /** The line stores the group: its identifier is no person's. */
  #isPlaced({ group }: Step): boolean {
    return this.#isRelayed && group < 2
  }

  #group({ group, guidPrefix, person }: Step): DeviceGroup {
    const identifier = group === 2 ? (GROUPS[2] ?? '') : `${this.#name}-${GROUPS[group]}`
    const participants = PEOPLE.slice(0, 2)
    return {
      chatGuid: `${guidPrefix}${identifier}`,
      identifier,
      name: `Name ${person}`,
      participants,
    }
  }

  #groupMessage(guid: string, step: Step) {
    const group = this.#group(step)
    const isPlaced = this.#isPlaced(step)
    if (isPlaced && !this.rows.has(guid)) this.#knownGroups.add(group.identifier)
    this.#note(guid, { isGroup: true, isAnnounced: isPlaced && !step.isFromMe })
    return { ...message(guid, step), group }
  }

  #direct(guid: string, step: Step) {
    this.#note(guid, { isGroup: false, isAnnounced: !step.isFromMe })
    return message(guid, step)
  }

  /** A group's row that has lost its group: its handle is the group's identifier. */
  #lost(guid: string, step: Step) {
    const { identifier } = this.#group({ ...step, group: 0 })
    if (!this.#knownGroups.has(identifier)) return this.#direct(guid, step)
    this.#note(guid, { isGroup: true, isAnnounced: false })
    return { ...message(guid, step), handle: deviceHandle(identifier) }
  }

  #note(guid: string, row: Row): void {
    if (!this.rows.has(guid)) this.rows.set(guid, row)
  }
}

function personAt(place: number) {
  return PEOPLE[place] ?? deviceHandle('+12025550779')
}

function message(guid: string, { person, isFromMe, isPending, what }: Step) {
  const file: DeviceAttachment = {
    guid: 'at-1',
    filename: 'a.heic',
    declaredType: null,
    size: null,
    file: { state: isPending ? 'pending' : 'missing' },
  }
  const facts = { text: guid, isFromMe, service: 'iMessage', at: AT, isHistory: false }
  const attachments = what === 'file' || what === 'again' ? [file] : []
  return { guid, handle: personAt(person), ...facts, attachments }
}

function changeOf({ change, person, isFromMe }: Step) {
  switch (change) {
    case 'reaction': {
      const what = { action: 'added', type: 'like', emoji: null, part: 0 } as const
      return { kind: 'reaction', handle: personAt(person), isFromMe, ...what } as const
    }
    case 'edited':
      return {
        kind: 'edited',
        text: `edited ${person}`,
        edits: [{ text: 'before', at: AT }],
      } as const
    case 'unsent':
      return { kind: 'unsent' } as const
  }
}

test(
  `in ${HISTORIES} random histories no row of a group is announced as direct, and each row once`,
  async () => {
    const driver = new ScriptedDriver('simulated')
    const relaying = driver.add('+12025550801')
    const silent = driver.add('+12025550802')
    await using relay = await startRelay({ drivers: [driver] })
    const [first] = await relay.lines()
    await relay.patch(`/api/v1/phone-lines/${first.id}`, { relay_groups: true })
    let count = 0
    let lastSeq = 0

    const runs = fc.asyncProperty(
      fc.array(history, { minLength: AT_ONCE, maxLength: AT_ONCE }),
      async (histories) => {
        const models: History[] = []
        for (const { isRelayed, steps } of histories) {
          count += 1
          const model = new History(`h${count}`, isRelayed)
          models.push(model)
          const device: ScriptedDevice = isRelayed ? relaying : silent
          await Promise.all(steps.map((one) => device.emit(model.eventOf(one))))
        }
        await relay.clock.advance(11_000)
        const rows = models.flatMap((model) => [...model.rows])
        const published = newEvents(relay.db, lastSeq)
        lastSeq = published.lastSeq
        const found = rows.map(([guid]) => [guid, published.byGuid.get(guid) ?? []])
        expect(found).toEqual(rows.map(([guid, row]) => [guid, wanted(row)]))
      },
    )
    await fc.assert(runs, { numRuns: HISTORIES / AT_ONCE, seed: 18 + SEED })
    expect(count).toBeGreaterThanOrEqual(HISTORIES)
  },
  240_000 * SCALE,
)

/** Names of the events that say that a row is there. */
function wanted({ isGroup, isAnnounced }: Row): string[] {
  if (!isAnnounced) return []
  return [isGroup ? 'group_message.received' : 'message.received']
}

/** Names of the events after `after` by the guids of their rows, without those of changes. */
function newEvents({ sqlite }: Awaited<ReturnType<typeof startRelay>>['db'], after: number) {
  const rows = sqlite
    .query<{ seq: number; guid: string; name: string }, [number]>(
      `SELECT e.seq, m.platform_guid AS guid, e.name FROM events e JOIN messages m ON m.id = e.message_id
       WHERE e.seq > ? ORDER BY e.seq`,
    )
    .all(after)
  const steps = rows.filter(({ name }) =>
    /^(group_)?message\.(received|sent|delivered|read|failed)$/.test(name),
  )
  const byGuid = new Map<string, string[]>()
  for (const { guid, name } of steps) byGuid.set(guid, [...(byGuid.get(guid) ?? []), name])
  return { byGuid, lastSeq: rows.at(-1)?.seq ?? after }
}
