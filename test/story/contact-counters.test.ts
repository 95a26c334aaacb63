// Whatever happens to messages, what is counted of a line's contacts is what its contacts say, and what
// contacts hold is what messages hold. Random lives of two lines, with a limit that is always near.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import type { Db } from '../../src/storage/database.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { startScripted } from '../support/scripted-relay.ts'
import { answerWith, STEP, take, type Step } from './line-lives.ts'

const HOUR = 3_600_000
const LIMIT = 1
test(
  'what is counted of a line is what its contacts say, and contacts hold what messages hold',
  async () => {
    await fc.assert(fc.asyncProperty(fc.array(STEP, { minLength: 10, maxLength: 50 }), live), {
      numRuns: 40 * SCALE,
      seed: 20_261_120 + SEED,
    })
  },
  120_000 * SCALE,
)

async function live(steps: readonly Step[]): Promise<void> {
  await using relay = await startScripted({ lines: ['online', 'online'], capacity: 2 })
  const devices = [relay.device, relay.second] as const
  await relay.limit(LIMIT)
  const world = { relay, devices, guids: [] as string[], count: 0 }
  for (const step of steps) {
    await take(world, step)
    await relay.clock.advance(0)
    check(relay.db)
  }

  for (const device of devices) if (!device.isOnline) await device.goOnline()
  for (const device of devices) answerWith(world, device, 'accepted')
  relay.clock.doze(25 * HOUR)
  await relay.clock.advance(60_000)
  check(relay.db)
  expect(countQueued(relay.db)).toEqual({ queued: 0, held: 0, places: 0 })
}

/** Each query finds what is wrong, so each must find nothing. */
const WRONG: Readonly<Record<string, string>> = {
  'reserved places of a line': `SELECT l.id, contacts_reserved AS counted, (SELECT count(*) FROM contacts c
       WHERE c.line_id = l.id AND queued > 0 AND known_at IS NULL AND spent_day IS NULL) AS found
     FROM lines l WHERE counted <> found`,
  'spent places of a day': `SELECT d.line_id, d.day, spent AS counted, (SELECT count(*) FROM contacts c
       WHERE c.line_id = d.line_id AND c.spent_day = d.day) AS found
     FROM contact_days d WHERE counted <> found`,
  'spent days that nobody counts': `SELECT line_id, handle, spent_day FROM contacts c WHERE spent_day IS NOT NULL AND NOT EXISTS
       (SELECT 1 FROM contact_days d WHERE d.line_id = c.line_id AND d.day = c.spent_day)`,
  'days above the limit': `SELECT line_id, day, spent FROM contact_days WHERE spent > ${LIMIT}`,
  'places that messages hold': `SELECT line_id, handle, queued, passed,
       (SELECT count(*) FROM messages m WHERE m.line_seq = (SELECT seq FROM lines l WHERE l.id = c.line_id) AND m.handle = c.handle
          AND contact_hold = 'reserved') AS reserved,
       (SELECT count(*) FROM messages m WHERE m.line_seq = (SELECT seq FROM lines l WHERE l.id = c.line_id) AND m.handle = c.handle
          AND contact_hold = 'spent') AS spent
     FROM contacts c WHERE queued <> reserved OR (known_at IS NULL AND passed <> spent)`,
  'places of messages that wait for nothing': `SELECT id, status, contact_hold FROM messages
     WHERE contact_hold NOT IN ('none', 'undecided')
       AND status NOT IN ('queued', 'sending', 'uncertain')`,
}

function check({ sqlite }: Db): void {
  const wrong = Object.entries(WRONG).map(([what, sql]) => [what, sqlite.query(sql).all()])
  expect(wrong.filter(([, rows]) => rows?.length !== 0)).toEqual([])
}

function countQueued({ sqlite }: Db): unknown {
  const sql = `SELECT (SELECT count(*) FROM messages WHERE status = 'queued') AS queued,
    (SELECT count(*) FROM messages WHERE contact_hold = 'reserved') AS held,
    (SELECT sum(contacts_reserved) FROM lines) AS places`
  return sqlite.query(sql).get()
}
