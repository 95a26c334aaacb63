// The checks of the torture with files, on files of which one is wrong.

import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

import { sha256 } from '../../src/system/hash.ts'
import type { Received } from '../support/receiver.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { fileFaults } from './torture/files.ts'

const BYTES = 'the menu'
const HASH = sha256(BYTES).toHex()

type World = { readonly dir: string; readonly relay: Database; readonly network: Database }

/** A message with one file that was sent, and one with a file that arrived; `spoil` changes something. */
function faultsAfter(spoil: (world: World) => void, received: readonly Received[] = []) {
  using folder = new ScratchFolder()
  const dir = folder.path
  const relay = new Database(join(dir, 'hookline.db'))
  const network = new Database(join(dir, 'simulated.db'))
  relay.run('CREATE TABLE messages (seq, id, status, direction, handle)')
  relay.run('CREATE TABLE attachments (seq, id, sha256, size, state)')
  relay.run('CREATE TABLE message_attachments (message_id, position, attachment_seq, is_sent)')
  network.run('CREATE TABLE parts (seq, message_id, attachment_id, sha256)')
  relay.run(`INSERT INTO messages VALUES (1, 'msg_out', 'read', 'outbound', '+12025571000'),
    (2, 'msg_in', 'received', 'inbound', '+12025570188')`)
  relay.run(`INSERT INTO attachments VALUES (1, 'att_out', '${HASH}', ${BYTES.length}, 'available'),
    (2, 'att_in', '${HASH}', ${BYTES.length}, 'available')`)
  relay.run("INSERT INTO message_attachments VALUES ('msg_out', 0, 1, 1), ('msg_in', 0, 2, NULL)")
  network.run(`INSERT INTO parts VALUES (1, 'msg_out', 'att_out', '${HASH}')`)
  store(dir, BYTES)
  spoil({ dir, relay, network })
  relay.close()
  network.close()
  const faults = Object.entries(fileFaults(dir, received))
  return faults.filter(([, list]) => list.length > 0).map(([name]) => name)
}

function store(dir: string, bytes: string, name = sha256(bytes).toHex()): void {
  const folder = join(dir, 'attachments', name.slice(0, 2))
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, name), bytes)
}

const OTHER_ROW = `INSERT INTO attachments VALUES (3, 'att_x', '${'0'.repeat(64)}', 1, 'available')`
const UNCLAIMED = 'UPDATE message_attachments SET is_sent = NULL'
const LATE = "UPDATE attachments SET state = 'pending' WHERE seq = 2"
const TWICE = 'INSERT INTO parts SELECT 2, message_id, attachment_id, sha256 FROM parts'

type Spoil = (world: World) => void
const inNetwork =
  (sql: string): Spoil =>
  ({ network }) =>
    network.run(sql)
const inRelay =
  (sql: string): Spoil =>
  ({ relay }) =>
    relay.run(sql)

const SPOILT: readonly (readonly [what: string, fault: string | null, spoil: Spoil])[] = [
  ['nothing', null, () => {}],
  ['a part that the network lacks', 'sentWithoutPart', inNetwork('DELETE FROM parts')],
  ['a part with other bytes', 'sentWithoutPart', inNetwork("UPDATE parts SET sha256 = 'other'")],
  ['a part of a sent message that nobody claims', 'sentWithoutPart', inRelay(UNCLAIMED)],
  ['a part that was sent twice', 'partSentTwice', inNetwork(TWICE)],
  [
    'a part of a message that the relay lacks',
    'partOfNobody',
    inNetwork("INSERT INTO parts VALUES (2, 'msg_x', 'att_x', 'x')"),
  ],
  ['other bytes under a hash', 'rowWithoutBytes', ({ dir }) => store(dir, 'another', HASH)],
  ['a row without a file', 'rowWithoutBytes', inRelay(OTHER_ROW)],
  ['a file without a row', 'orphans', ({ dir }) => store(dir, 'nobody needs it')],
  ['a file that never arrived', 'notArrived', inRelay(LATE)],
]

test.each(SPOILT)('%s is found: %p', (_, fault, spoil) => {
  expect(faultsAfter(spoil)).toEqual(fault === null ? [] : [fault])
})

test('a file on its way whose end nobody announced is found', () => {
  const message = { id: 'msg_in', text: '', handle: '', attachments: [{ state: 'pending' }] }
  const post = {
    id: 'evt_1',
    event: 'message.received',
    lineId: '',
    message,
    isSigned: true,
    at: 0,
  }

  expect(faultsAfter(() => {}, [post])).toEqual(['announcedWithoutEnd'])
  expect(faultsAfter(() => {}, [post, { ...post, event: 'attachment.available' }])).toEqual([])
})
