import { expect } from 'bun:test'
import { writeFileSync } from 'node:fs'

import type { AttachmentId } from '../../src/domain/ids.ts'
import type { Capabilities } from '../../src/domain/line.ts'
import type { OutgoingAttachment } from '../../src/domain/message.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import { sha256 } from '../../src/system/hash.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import {
  carryMessage,
  guidOf,
  messageOf,
  messagesOf,
  runLine,
  serviceOf,
  settledOf,
  type Check,
} from './line-rig.ts'

type Run = Awaited<ReturnType<typeof runLine>>

/** What a line can do beyond texts between two, it does; what it cannot, it refuses, and never halves. */
export const ABILITY_PROMISES: Readonly<Record<string, Check>> = {
  'a line can do no more than its kind says': async (rig) => {
    await using run = await runLine(rig, rig.driver)

    const kind = LINE_KINDS.find(({ name }) => name === rig.driver.kind)
    const abilities = new Map(Object.entries(kind?.abilities ?? {}))
    const beyond = Object.entries(capabilitiesOf(run)).filter(
      ([name, value]) => value !== false && abilities.get(name) !== value,
    )

    expect(beyond).toEqual([])
  },

  'files go before the text, each with a row of its own, or the message is refused': async (
    rig,
  ) => {
    using folder = new ScratchFolder()
    await using run = await runLine(rig, rig.driver)
    const attachments = filesIn(folder)

    const { outcome, note } = await carryMessage(rig, run, {
      ...messageOf(rig, 'menu'),
      attachments,
    })
    await rig.clock.advance(rig.settleMs)

    if (capabilitiesOf(run).attachments) {
      expect(outcome.outcome).toBe('accepted')
      expect(required(rig.sentFiles)('menu')).toEqual(attachments.map((file) => file.sha256))
      expect(partGuidsOf(outcome).length).toBe(rig.canBeAsked ? attachments.length : 0)
      expect(partGuidsOf(outcome)).not.toContain(guidOf(outcome))
      expect(rig.carried('menu')).toBe(1)
    } else {
      expect(outcome).toMatchObject(NOT_SUPPORTED)
      expect(note).toBeNull()
      expect(rig.carried('menu')).toBe(0)
    }
    expect(messagesOf(run.events)).toEqual([])
  },

  'a file that is not what it was is refused, and no part of its message leaves': async (rig) => {
    using folder = new ScratchFolder()
    await using run = await runLine(rig, rig.driver)
    const attachments = filesIn(folder)
    writeFileSync(attachments[1]?.path ?? '', '')

    const { outcome } = await carryMessage(rig, run, { ...messageOf(rig, 'menu'), attachments })
    await rig.clock.advance(rig.settleMs)

    expect(outcome).toMatchObject({ outcome: 'not_sent', blame: 'message' })
    expect([rig.carried('menu'), rig.sentFiles?.('menu') ?? []]).toEqual([0, []])
  },

  'an unsettled message with files is found with all of its parts, or left open': async (rig) => {
    using folder = new ScratchFolder()
    const first = await runLine(rig, rig.driver)
    const checkpoint = first.checkpoint()
    const order = { ...messageOf(rig, 'menu'), attachments: filesIn(folder) }
    const { message, note, outcome } = await carryMessage(rig, first, order)
    await first.end()

    const unsettled = note === null ? [] : [{ message, note }]
    await using second = await runLine(rig, rig.restart(), { checkpoint, unsettled })
    await rig.clock.advance(rig.settleMs)

    const isFound = rig.canBeAsked && note !== null
    const ends: readonly unknown[] = settledOf(second.events).map((event) => event.outcome)
    expect(ends.at(-1)).toEqual(isFound ? outcome : undefined)
    expect(messagesOf(second.events)).toEqual([])
  },

  'a message goes by the service that was asked for, or not at all': async (rig) => {
    await using run = await runLine(rig, rig.driver)

    const order = { ...messageOf(rig, 'hello'), service: 'SMS' as const }
    const { outcome } = await carryMessage(rig, run, order)

    if (capabilitiesOf(run).choose_service) {
      expect([outcome.outcome, serviceOf(outcome)]).toEqual(['accepted', 'SMS'])
    } else {
      expect(outcome).toMatchObject(NOT_SUPPORTED)
    }
    expect(rig.carried('hello')).toBe(capabilitiesOf(run).choose_service ? 1 : 0)
  },

  'a group that is not there is never exchanged for a person': async (rig) => {
    await using run = await runLine(rig, rig.driver)

    const order = { ...messageOf(rig, 'hello all'), chatGuid: 'iMessage;+;chat999' }
    const { outcome } = await carryMessage(rig, run, order)
    await rig.clock.advance(rig.settleMs)

    expect(outcome).toMatchObject({ outcome: 'not_sent', blame: 'message' })
    expect(rig.carried('hello all')).toBe(0)
  },

  'a message comes with its group, and one between two comes without': async (rig) => {
    await using run = await runLine(rig, rig.driver)
    const canHaveGroups = capabilitiesOf(run).groups !== undefined

    await rig.receive('for you')
    const identifier = await rig.receiveInGroup?.('for all')
    await rig.clock.advance(rig.settleMs)

    if (canHaveGroups) required(rig.receiveInGroup)
    const messages = messagesOf(run.events)
    const groupOf = (text: string) => messages.find((each) => each.text === text)?.group?.identifier
    expect(messages.length).toBe(canHaveGroups ? 2 : 1)
    expect([groupOf('for you'), groupOf('for all')]).toEqual([
      undefined,
      canHaveGroups ? identifier : undefined,
    ])
  },

  'a file comes with its bytes where the line gets them, and else without': async (rig) => {
    await using run = await runLine(rig, rig.driver)
    const bytes = new TextEncoder().encode('%PDF-1.4 of a menu')
    const hasBytes = capabilitiesOf(run).receives_attachments === true
    if (hasBytes) required(rig.receiveFile)

    await rig.receiveFile?.('see here', bytes)
    await rig.clock.advance(rig.settleMs)

    const expected = hasBytes ? '%PDF-1.4 of a menu' : null
    expect(run.contents).toEqual(rig.receiveFile === undefined ? [] : [expected])
  },
}

const NOT_SUPPORTED = { outcome: 'not_sent', reason: 'not_supported' } as const

function capabilitiesOf(run: Run): Capabilities {
  const online = run.events.findLast((event) => event.type === 'online')
  if (online?.type !== 'online') throw new Error('The line did not go online.')
  return online.capabilities
}

/** A rig that does not say what its device did cannot show that a line does what it says. */
function required<Tool>(tool: Tool | undefined): Tool {
  if (tool === undefined) throw new Error('The rig of a line with this ability has to show it.')
  return tool
}

function filesIn(folder: ScratchFolder): readonly OutgoingAttachment[] {
  return ['menu.pdf', 'map.png'].map((filename) => {
    const path = folder.file(filename)
    const bytes = new TextEncoder().encode(`bytes of ${filename}`)
    writeFileSync(path, bytes)
    const id = `att_${filename}` as AttachmentId // Drivers take an id as it is.
    const mimeType = 'application/octet-stream'
    return { id, path, filename, mimeType, size: bytes.length, sha256: sha256(bytes).toHex() }
  })
}

function partGuidsOf(outcome: { readonly partGuids?: readonly string[] | undefined } | object) {
  return 'partGuids' in outcome ? (outcome.partGuids ?? []) : []
}
