// Yardstick of the storage: the three steps of a message (accept, sending, outcome) in the real table,
// each committed alone with synchronous=FULL, as fast as one loop can. Prints messages per second.

import { openDatabase } from '../../src/storage/database.ts'
import { VERSION } from '../../src/system/version.ts'
import { openPopulation } from './population.ts'

const [path = ':memory:', seconds = '5'] = process.argv.slice(2)
const { db } = openDatabase(path, { version: VERSION })
const { conversation, insert } = openPopulation(db.sqlite)
const passing = db.sqlite.prepare(
  "UPDATE messages SET status = 'sending', passed_at = $now WHERE seq = $seq",
)
const settling = db.sqlite.prepare(
  "UPDATE messages SET status = 'sent', sent_at = $now, updated_at = $now WHERE seq = $seq",
)

const startedAt = performance.now()
const endsAt = startedAt + Number(seconds) * 1_000
let count = 0
while (performance.now() < endsAt) {
  count += 1
  const now = Date.now()
  insert(count, { at: now, status: 'queued', direction: 'outbound', ...conversation(count % 64) })
  passing.run({ seq: count, now })
  settling.run({ seq: count, now })
}
console.log(Math.round(count / ((performance.now() - startedAt) / 1_000)))
