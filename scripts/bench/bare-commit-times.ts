// Commits of twenty messages each, one after another, in a database that has many: prints the longest and the middle
// one, in milliseconds. With `never` the log is never emptied, which is the least that the disk takes.

import { openDatabase } from '../../src/storage/database.ts'
import { Writer } from '../../src/storage/writer.ts'
import { VERSION } from '../../src/system/version.ts'
import { median } from './figure.ts'
import { openPopulation } from './population.ts'

const MESSAGES = 200_000
const CONVERSATIONS = 1_000
const GROUP = 20

const [path = '', seconds = '20', mode = 'relay'] = process.argv.slice(2)
const { db } = openDatabase(path, { version: VERSION })
const { conversation, insert } = openPopulation(db.sqlite)
const add = (seq: number) => {
  const row = { at: Date.now(), status: 'sent', direction: 'outbound' } as const
  insert(seq, { ...row, ...conversation(seq % CONVERSATIONS) })
}
db.sqlite.transaction(() => {
  for (let seq = 1; seq <= MESSAGES; seq += 1) add(seq)
})()
db.sqlite.query('PRAGMA wal_checkpoint(TRUNCATE)').all()

const writer = new Writer(db, (error) => {
  throw error
})
if (mode === 'never') db.sqlite.run('PRAGMA wal_autocheckpoint = 0')
const times: number[] = []
const endsAt = performance.now() + Number(seconds) * 1_000
for (let seq = MESSAGES; performance.now() < endsAt;) {
  const startedAt = performance.now()
  const first = seq + 1
  seq += GROUP
  const group = Array.from({ length: GROUP }, (_, i) => writer.write(() => add(first + i)))
  await Promise.all(group)
  times.push(performance.now() - startedAt)
}
console.log(JSON.stringify({ longest: Math.max(...times), middle: median(times) }))
process.exit()
