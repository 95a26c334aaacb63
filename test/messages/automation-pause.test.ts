import { expect, spyOn, test } from 'bun:test'

import { COMMAND_LINE } from '../../src/domain/audit.ts'
import { RelayError } from '../../src/domain/errors.ts'
import { deviceHandle } from '../../src/domain/handle.ts'
import type { ConversationId, LineId } from '../../src/domain/ids.ts'
import { MESSAGE_SOURCES, type MessageSource } from '../../src/domain/message.ts'
import { requireUnpaused } from '../../src/messages/agents.ts'
import { pauseAutomation } from '../../src/storage/conversations.ts'
import type { Tx } from '../../src/storage/database.ts'
import { storeLine, storeMessages } from '../support/stored-rows.ts'
import { openTestStorage } from '../support/test-storage.ts'

/** A database whose one conversation a person answers, and the result of a send from a source there. */
async function openPaused(isEnforced: boolean) {
  const { db, settings } = openTestStorage().core
  storeLine(db.sqlite)
  storeMessages(db.sqlite, [{ id: 'msg_a', status: 'read' }])
  const tx = db as Tx // Nobody else has this database.
  pauseAutomation(tx, 'conv_a' as ConversationId, true) // As it was stored, with that handle.
  await settings.set('enforce_automation_pause', isEnforced ? 'on' : 'off', COMMAND_LINE)
  const party = { lineIds: ['line_a' as LineId], handle: deviceHandle('conv_a') } // As it was stored.
  const plain = { ...party, isAgent: false, conversationIds: null }
  const attempt = (source: MessageSource, more: object = {}) =>
    codeOf(() => requireUnpaused(settings, tx, { ...plain, source, ...more }))
  return { db, attempt }
}

function codeOf(act: () => void): string {
  try {
    act()
  } catch (error) {
    return error instanceof RelayError ? error.code : String(error)
  }
  return 'goes'
}

test('where a pause is enforced, programs are refused, and people at the relay are not', async () => {
  const { attempt } = await openPaused(true)

  const results = MESSAGE_SOURCES.map((source) => [source, attempt(source)])

  expect(results).toEqual([
    ['api', 'automation_paused'],
    ['cli', 'goes'],
    ['dashboard', 'goes'],
    ['device', 'goes'],
  ])
})

test('where no pause is enforced, everybody sends, and for people the database is not asked', async () => {
  const { db, attempt } = await openPaused(false)
  const asked = [spyOn(db.sqlite, 'query'), spyOn(db.sqlite, 'prepare')]

  const people = MESSAGE_SOURCES.filter((source) => source !== 'api')
  const results = people.map((source) => attempt(source))

  expect(results).toEqual(['goes', 'goes', 'goes'])
  expect(asked.map((spy) => spy.mock.calls)).toEqual([[], []])
})

test('agents and keys of conversations are refused by any way, whatever the setting says', async () => {
  const { attempt } = await openPaused(false)
  const of = [{ isAgent: true }, { conversationIds: [] }]

  const results = MESSAGE_SOURCES.flatMap((source) => of.map((more) => attempt(source, more)))

  expect(results).toEqual(Array(2 * MESSAGE_SOURCES.length).fill('automation_paused'))
})
