// A relay whose lists all have LONG rows, of which the oldest alone are unlike the others.

import type { Database } from 'bun:sqlite'

import { LogicalClock } from '../../src/system/logical-clock.ts'
import { samplePayload } from '../../src/webhooks/sample.ts'
import { idsOf, makeKey, openShop } from './limited-keys.ts'
import { TEST_START, TestClock } from './test-clock.ts'
import { seededRandom, type Json, type TestRelay } from './test-relay.ts'

/** More than two pages may go through. */
export const LONG = 12_000

/** The number of row `i` of the messages; each has a conversation and a person of its own. */
export const numberOf = (i: number) => `+1303${String(i).padStart(7, '0')}`

export async function openLongLists() {
  const relay = await openShop()
  const [busy = '', quiet = ''] = await idsOf(relay)
  const hook = { url: 'https://shop.example.com/hooks', events: ['message.sent'] }
  const webhook: string = (await relay.post('/api/v1/webhooks', hook)).body.id
  fill(relay.db.sqlite, { busy, quiet, webhook })
  return { relay, busy, quiet, webhook, ofQuiet: await makeKey(relay, { phone_line_ids: [quiet] }) }
}

type Filled = { readonly busy: string; readonly quiet: string; readonly webhook: string }

function fill(sqlite: Database, filled: Filled): void {
  const ids = new LogicalClock(new TestClock(), seededRandom(3), 0)
  const body = samplePayload('message.failed', ids)
  const values = { ...filled, body, start: TEST_START, long: LONG, number: '+12025550801' }
  sqlite.transaction(() => {
    for (const insertion of [
      CONVERSATIONS,
      MESSAGES,
      GROUPS,
      PEOPLE,
      OPT_OUTS,
      KEYS,
      AUDIT,
      EVENTS,
      DELIVERIES,
    ]) {
      sqlite
        .query(
          `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $long) ${insertion}`,
        )
        .run(values)
    }
  })()
}

/** One of the ids that the product gives: 26 digits behind its kind. */
const idOf = (kind: string) => `printf('${kind}_%026d', i)`
const AT = '$start + i'
const LINE = 'iif(i = 1, $quiet, $busy)'

const CONVERSATIONS = `INSERT INTO conversations (seq, id, line_id, phone_number, handle, service,
    message_count, last_seq, unread_count, is_unanswered, created_at, updated_at)
  SELECT i, ${idOf('conv')}, ${LINE}, $number, printf('+1303%07d', i), 'iMessage', 1, i, i <> 2, i <> 2,
    ${AT}, ${AT} FROM n`

const MESSAGES = `INSERT INTO messages (seq, id, line_seq, conversation_seq, phone_number, handle,
    direction, status, service, is_group, queued_reason, text, guid, source, revision, created_at,
    waits_from, updated_at)
  SELECT i, ${idOf('msg')}, (SELECT seq FROM lines WHERE id = ${LINE}), i, $number,
    printf('+1303%07d', i), iif(i = 1, 'inbound', 'outbound'),
    CASE i WHEN 1 THEN 'received' WHEN 2 THEN 'failed' WHEN 3 THEN 'deferred' WHEN 4 THEN 'queued' ELSE 'read' END,
    iif(i = 1, 'SMS', 'iMessage'), i = 2, iif(i = 3, 'approval', NULL),
    'Hello ' || i, printf('guid-%d', i), 'api', 2 * $long - i, ${AT}, ${AT}, $start + 2 * $long - i FROM n`

const GROUPS = `INSERT INTO groups (seq, chat_guid, name, participants, state)
  SELECT 2, 'chat', 'Shop', '[]', 'active' FROM n LIMIT 1`

const PEOPLE = `INSERT INTO people (seq, handle, name, name_key, tags, created_at, updated_at)
  SELECT i, printf('+1303%07d', i), iif(i = 1, 'Zoe', 'Anna'), iif(i = 1, 'zoe', 'anna'),
    iif(i = 1, '["rare"]', '["usual"]'), ${AT}, ${AT} FROM n`

const OPT_OUTS = `INSERT INTO opt_outs (seq, handle, source, created_at)
  SELECT i, printf('+1303%07d', i), 'api', ${AT} FROM n`

const KEYS = `INSERT INTO credentials (id, kind, name, key, secret_sha256, hint, created_by, created_at,
    secret_created_at, phone_line_ids)
  SELECT ${idOf('key')}, 'key', 'k' || i, 'k' || i, CAST(printf('%032d', i) AS BLOB), 'k', 'cli', ${AT}, ${AT},
    iif(i = $long, json_array($quiet), json_array($busy)) FROM n ORDER BY i DESC`

const AUDIT = `INSERT INTO audit (seq, id, at, last_at, count, actor_kind, actor_id, action, about_kind, about_id)
  SELECT 10 + i, ${idOf('aud')}, ${AT}, iif(i = 1, $start + 9999999, $start - 1), 1, iif(i = 1, 'cli', 'key'),
    iif(i = 1, NULL, ${idOf('key')}), iif(i = 1, 'key.revoked', 'key.created'), 'key', ${idOf('key')} FROM n`

const EVENTS = `INSERT INTO events (seq, id, name, conversation_id, body, created_at)
  SELECT i, ${idOf('evt')}, iif(i = $long, 'message.failed', 'message.sent'), ${idOf('conv')},
    json_set($body, '$.phone_line_id', iif(i = $long, $quiet, $busy)), ${AT} FROM n`

/** The first one has the last event, and so the last conversation. */
const DELIVERIES = `INSERT INTO deliveries (seq, id, webhook_seq, event_seq, status,
    attempt_count, created_at, completed_at)
  SELECT i, ${idOf('dlv')}, (SELECT seq FROM webhooks WHERE id = $webhook), $long + 1 - i,
    iif(i = 1, 'exhausted', 'succeeded'), 1, ${AT}, ${AT} FROM n`

export type Ask = (path: string) => Promise<Json>

/** The pages of a list, one behind the other, up to its end. */
export async function pagesOf(get: Ask, path: string, cursorName = 'cursor'): Promise<Json[]> {
  const pages: Json[] = []
  for (let cursor = ''; ;) {
    const page = await get(`${path}${path.includes('?') ? '&' : '?'}limit=200${cursor}`)
    pages.push(page)
    if (!page.has_more) return pages
    cursor = `&${cursorName}=${encodeURIComponent(page.next_cursor)}`
  }
}

export const askOf =
  ({ get }: Pick<TestRelay, 'get'>): Ask =>
  (path) =>
    get(`/api/v1/${path}`)
