// The journal of a box: what it keeps, and what it proves.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { copyFileSync, renameSync } from 'node:fs'

import { Journal, openJournal } from '../../src/boxes/journal.ts'
import type { LineId, MessageId } from '../../src/domain/ids.ts'
import type { SendOutcome } from '../../src/lines/driver.ts'
import { systemRandom } from '../../src/system/random.ts'
import { messageOf } from '../lines/supervisor-rig.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { settle, TestClock } from '../support/test-clock.ts'

const LINE = 'line_1' as LineId // The journal only keeps it.
const ACCEPTED: SendOutcome = { outcome: 'accepted', guid: 'G' }
const REFUSED: SendOutcome = { outcome: 'not_sent', reason: 'busy', blame: 'line' }
const DAY_MS = 24 * 3_600_000
const always = () => true
const idOf = (name: string) => `msg_${name}` as MessageId // As `messageOf` makes it.

function open(folder: ScratchFolder, more: { clock?: TestClock; machine?: string } = {}): Journal {
  const tools = { clock: new TestClock(), random: systemRandom, machine: 'mac', ...more }
  return openJournal(folder.file('box.db'), tools)
}

function isProof(journal: Journal, id: MessageId, boot: string, mark?: number) {
  return journal.recordOf(id, { session: '1.1', boot, mark }) === 'none'
}

function insert(journal: Journal, name: string, session = '1.1', isCurrent = always) {
  const entry = { session, line: LINE, message: messageOf(name), note: 'note' }
  return journal.insert(entry, isCurrent)
}

test('rows, outcomes and the fence outlive the process', async () => {
  using folder = new ScratchFolder()
  const first = open(folder)
  await Promise.all([insert(first, 'a'), insert(first, 'b')])
  await first.settle(idOf('a'), '1.1', ACCEPTED)
  await first.raiseFence(4)
  first.close()

  const second = open(folder)

  expect(second.find(idOf('a'))).toEqual({ session: '1.1', note: 'note', outcome: ACCEPTED })
  expect(second.find(idOf('b'))).toEqual({ session: '1.1', note: 'note', outcome: null })
  expect([second.find(idOf('c')), second.fence]).toEqual([null, 4])
  second.close()
})

test('a message is written down once, unless nothing was left of it', async () => {
  using folder = new ScratchFolder()
  const journal = open(folder)
  const written = [await insert(journal, 'a'), await insert(journal, 'a', '1.2')]
  await journal.settle(idOf('a'), '1.1', REFUSED)
  written.push(await insert(journal, 'a', '1.3'))
  await journal.settle(idOf('a'), '1.1', ACCEPTED)

  expect(written).toEqual([true, false, true])
  expect(journal.find(idOf('a'))).toEqual({ session: '1.3', note: 'note', outcome: null })
  journal.close()
})

test('the session is looked at in the turn of the insert', async () => {
  using folder = new ScratchFolder()
  const journal = open(folder)
  let isCurrent = true
  const inserting = insert(journal, 'a', '1.1', () => isCurrent)
  isCurrent = false

  expect(await inserting).toBe(false)
  expect(journal.find(idOf('a'))).toBeNull()
  journal.close()
})

test('a missing row is a proof for the processes of this journal, on this machine', () => {
  using folder = new ScratchFolder()
  const first = open(folder)
  first.close()
  const second = open(folder)

  const proofs = [second.boot, first.boot, 'another'].map((boot) =>
    isProof(second, idOf('a'), boot),
  )
  second.close()
  const copy = open(folder, { machine: 'other' })

  expect(proofs).toEqual([true, true, false])
  expect(isProof(copy, idOf('a'), first.boot)).toBe(false)
  copy.close()
})

test('a journal that came back from a copy proves nothing of the processes before', async () => {
  using folder = new ScratchFolder()
  const first = open(folder)
  first.close()
  copyFileSync(folder.file('box.db'), folder.file('backup.db'))
  const second = open(folder)
  await insert(second, 'a')
  second.close()
  renameSync(folder.file('backup.db'), folder.file('box.db'))

  const restored = open(folder)

  expect(restored.find(idOf('a'))).toBeNull()
  expect(isProof(restored, idOf('a'), first.boot)).toBe(false)
  expect(isProof(restored, idOf('b'), restored.boot)).toBe(true)
  restored.close()
})

test('rows are kept for thirty days, and what was deleted proves nothing', async () => {
  using folder = new ScratchFolder()
  const clock = new TestClock()
  const journal = open(folder, { clock })
  await insert(journal, 'b')
  clock.step(31 * DAY_MS)
  await insert(journal, 'd')

  expect([journal.find(idOf('b')), journal.find(idOf('d'))?.session]).toEqual([null, '1.1'])
  expect(['a', 'b', 'c'].map((name) => isProof(journal, idOf(name), journal.boot))).toEqual([
    false,
    false,
    true,
  ])
  journal.close()
})

test('a second journal on one file is refused', async () => {
  using folder = new ScratchFolder()
  const journal = open(folder)
  await insert(journal, 'a')

  expect(() => open(folder)).toThrow('locked')
  journal.close()
})

test('an epoch that could not be written is written with the next question', async () => {
  using folder = new ScratchFolder()
  const database = new Database(folder.file('box.db'), { strict: true })
  const tools = { clock: new TestClock(), random: systemRandom, machine: 'mac' }
  const journal = new Journal(database, tools)
  database.run("CREATE TRIGGER full BEFORE INSERT ON facts BEGIN SELECT raise(ABORT, 'full'); END")
  expect(journal.raiseFence(3)).rejects.toThrow('full')
  await settle()
  database.run('DROP TRIGGER full')

  await journal.raiseFence(3)

  const sql = "SELECT value FROM facts WHERE name = 'fence'"
  expect(database.query(sql).get()).toEqual({ value: '3' })
  journal.close()
})
