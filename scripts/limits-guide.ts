// Makes src/guides/limits.md from the constants that enforce them.

import { SESSIONS_MAX } from '../src/access/sessions.ts'
import { PAGE_QUERY } from '../src/api/query.ts'
import { FETCHED_BYTES_MAX, LINK_MS_MAX } from '../src/attachments/attachments.ts'
import { optionsOf } from '../src/config.ts'
import { CHANNELS_MAX } from '../src/domain/alert.ts'
import {
  ATTACHMENTS_MAX,
  FILENAME_BYTES_MAX,
  UNUSED_UPLOAD_MS_MAX,
} from '../src/domain/attachment.ts'
import { CREDENTIAL_NAME_LENGTH_MAX } from '../src/domain/credential.ts'
import { DEFAULT_DAILY_CONTACT_LIMIT } from '../src/domain/line.ts'
import { QUEUED_MS_MAX, SCHEDULED_MS_MAX, TEXT_LENGTH_MAX } from '../src/domain/message.ts'
import { durationWords, grouped } from '../src/domain/number-words.ts'
import { defaultSetting, printSetting, type SettingName } from '../src/domain/setting.ts'
import { COMMON_MAX, SLOTS_MAX } from '../src/domain/slots.ts'
import { WEBHOOKS_MAX } from '../src/domain/webhook.ts'
import { FILE_BYTES_MAX } from '../src/http/contacts.ts'
import { READERS } from '../src/http/events.ts'
import { BODY_BYTES_MAX } from '../src/http/input.ts'
import { WAIT_SECONDS_MAX } from '../src/http/sending.ts'
import { SITES_MAX } from '../src/lines/sites.ts'
import { SENDS_PER_MINUTE_MAX } from '../src/messages/send-target.ts'
import { EVENTS_KEPT_MS, IDEMPOTENCY_KEPT_MS } from '../src/storage/retention.ts'
import { EXAMINED_MAX } from '../src/storage/scan.ts'
import { POST_MS_MAX } from '../src/webhooks/post.ts'
import { CALL_MAX } from '../src/webhooks/replay.ts'
import { URL_LENGTH_MAX } from '../src/webhooks/subscriptions.ts'
import { KEPT_MAX } from '../src/webhooks/test-inbox.ts'

type Row = readonly [what: string, limit: string, beyond: string]

const { default: usual, maximum } = { default: 0, maximum: 0, ...PAGE_QUERY.limit }

const GROUPS: Readonly<Record<string, readonly Row[]>> = {
  Messages: [
    [
      'text',
      `${grouped(TEXT_LENGTH_MAX)} characters (Unicode code points)`,
      '400 `invalid_request`',
    ],
    ['files of a message', String(ATTACHMENTS_MAX), '400 `invalid_request`'],
    ['time ahead of `send_at`', durationWords(SCHEDULED_MS_MAX), '400 `invalid_request`'],
    ['wait in the queue', hours(QUEUED_MS_MAX), '`expired`'],
    ['`Idempotency-Key`', '255 characters of printable ASCII', '400 `invalid_request`'],
    [
      'memory of an `Idempotency-Key`',
      durationWords(IDEMPOTENCY_KEPT_MS),
      'a repeat is a new message',
    ],
    [
      'wait for the outcome of a send',
      `${setOption('sendWaitMs')} unless \`Prefer: wait=N\` says otherwise; ${WAIT_SECONDS_MAX} s`,
      '202',
    ],
    ['sends to one recipient', `${SENDS_PER_MINUTE_MAX} a minute`, '429 `rate_limit_exceeded`'],
    [
      'new contacts of a line',
      `${DEFAULT_DAILY_CONTACT_LIMIT} a day (\`daily_contact_limit\`)`,
      '429, or the message waits',
    ],
  ],
  Requests: [
    ['body in JSON', bytes(BODY_BYTES_MAX), '413 `payload_too_large`'],
    ['page of a list', `${usual} entries, \`limit\` up to ${maximum}`, '400 `invalid_request`'],
    ['entries that one page looks at', grouped(EXAMINED_MAX), 'a short page with `next_cursor`'],
    [
      'readers of events that wait',
      `${READERS.ofOne} of a key, ${READERS.ofAll} in all`,
      '429 `rate_limit_exceeded`',
    ],
    ['file of contacts', bytes(FILE_BYTES_MAX), '413 `payload_too_large`'],
  ],
  Files: [
    [
      'upload, and file of a message',
      `${setting('attachment_max_mb')} MB (\`attachment_max_mb\`)`,
      '413 `payload_too_large`',
    ],
    [
      'all files',
      `${setting('attachment_quota_gb')} GB (\`attachment_quota_gb\`)`,
      '503 `storage_full`',
    ],
    ['file by `url`', bytes(FETCHED_BYTES_MAX), '422 `attachment_fetch_failed`'],
    ['file name', `${FILENAME_BYTES_MAX} bytes`, 'is cut'],
    ['upload that no message uses', hours(UNUSED_UPLOAD_MS_MAX), 'is deleted'],
    [
      'life of a link (`POST …/link`)',
      `1 hour, \`expires_in\` up to ${durationWords(LINK_MS_MAX)}`,
      '400 `invalid_request`',
    ],
  ],
  'Webhooks and events': [
    ['webhooks', grouped(WEBHOOKS_MAX), '400 `invalid_request`'],
    ['URL', `${grouped(URL_LENGTH_MAX)} characters`, '400 `invalid_request`'],
    [
      'time to answer a delivery',
      durationWords(POST_MS_MAX),
      'the attempt failed, and is repeated',
    ],
    [
      'schedule of attempts',
      `\`${setOption('webhookRetryScheduleMs')}\``,
      'the delivery has failed',
    ],
    ['requests at once', `${SLOTS_MAX} to an endpoint, ${COMMON_MAX} in all`, 'the others wait'],
    ['events kept', durationWords(EVENTS_KEPT_MS), '410 `events_gone`'],
    ['events of a replay, or of `retry-failed`', grouped(CALL_MAX), '`has_more`: call again'],
    ['requests in test inboxes', `${KEPT_MAX}, for a day`, 'the oldest go'],
  ],
  'Keys, people, sites': [
    ['name of a key', `${CREDENTIAL_NAME_LENGTH_MAX} characters`, '400 `invalid_request`'],
    ['browsers signed in', String(SESSIONS_MAX), 'the one not used for longest is signed out'],
    ['channels of alerts', String(CHANNELS_MAX), '400 `invalid_request`'],
    ['sites', String(SITES_MAX), '400 `invalid_request`'],
  ],
}

/** The whole guide, in Markdown. */
export function limitsGuide(): string {
  const groups = Object.entries(GROUPS).map(([heading, rows]) => {
    const table = rows.map((row) => `| ${row.join(' | ')} |`)
    return [`## ${heading}`, '', '| | at most | beyond |', '|---|---|---|', ...table].join('\n')
  })
  return `# Limits

Those with a name in \`code\` are [settings](command-line#settings) or fields. A key may have limits of
[its own](keys#rules-for-sending). There is no limit of requests a minute, of keys, or of the size of an export.

${groups.join('\n\n')}
`
}

function setting(name: SettingName): string {
  return printSetting(name, defaultSetting(name))
}

function setOption(key: string): string {
  const option = optionsOf()[key]
  if (option === undefined) throw new Error(`There is no option ${key}.`)
  return option.kind.print(option.default)
}

function bytes(count: number): string {
  const mb = count / 1_024 ** 2
  return mb >= 1 ? `${mb} MiB` : `${count / 1_024} KiB`
}

function hours(ms: number): string {
  return `${ms / 3_600_000} hours`
}
