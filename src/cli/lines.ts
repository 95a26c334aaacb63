import type { PhoneLine } from '../api/phone-lines.ts'
import type { Page } from '../api/schema.ts'
import { limitLevel } from '../domain/contact-limit.ts'
import { UTC, midnightIn } from '../domain/days.ts'
import { groupedNumber } from '../domain/handle.ts'
import type { Line } from '../domain/line.ts'
import { isoTime } from '../system/iso-time.ts'
import { saveFile } from './attachments.ts'
import {
  Options,
  UsageError,
  argument,
  idIn,
  requireChange,
  type Call,
  type Command,
} from './command.ts'
import { askRelay, calling, runningRelay, throughRelayOrFile } from './own-file.ts'
import { stateCell, table } from './table.ts'

const CHANGES = [
  { name: 'label', value: 'TEXT', sentence: 'Name of the line.' },
  { name: 'daily-contact-limit', value: 'N', sentence: 'Daily new-contact limit, 0 to 100000.' },
  { name: 'enabled', value: 'true|false', sentence: 'Turn sending on or off. It always receives.' },
  {
    name: 'quiet-hours',
    value: 'FROM-TO|off',
    sentence: 'Send nothing in these hours of each day, as 21:00-08:00.',
  },
  { name: 'relay-sms', value: 'true|false', sentence: 'Relay SMS and RCS messages too.' },
  { name: 'relay-groups', value: 'true|false', sentence: 'Relay group messages too.' },
] as const

export const LINE_COMMANDS: readonly Command[] = [
  {
    name: 'lines list',
    short: 'lines',
    sentence: 'List phone lines and their status. Short: lines.',
    run: list,
  },
  {
    name: 'lines set',
    args: [{ name: 'ID', ids: 'lines' }],
    options: CHANGES,
    sentence: "Change a line's settings.",
    run: change,
  },
  {
    name: 'lines adopt',
    args: [
      { name: 'OLD', ids: 'lines' },
      { name: 'NEW', ids: 'lines' },
    ],
    sentence:
      'Let line NEW replace the vanished line OLD. The same id twice accepts its new number.',
    run: calling(
      'adoptPhoneLine',
      (call) => [{ params: { id: argument(call, 1) }, body: { from: argument(call, 0) } }],
      ({ id, phone_number }) => [`${id} now has ${groupedNumber(phone_number)}.`],
    ),
  },
  {
    name: 'lines move',
    args: [{ name: 'LINE', ids: 'lines' }],
    options: [
      {
        name: 'to',
        value: 'BOX',
        ids: 'boxes',
        sentence: 'The box to move to; "here" for the machine of the relay.',
      },
      { name: 'cancel', value: null, sentence: 'Stay on the machine that the line is on.' },
    ],
    sentence: 'Move a line to another machine: sign in there, and it continues.',
    run: move,
  },
  {
    name: 'lines poster',
    args: [{ name: 'LINE', ids: 'lines' }],
    options: [
      { name: 'output', value: 'FILE', sentence: 'File to write (default text-us.html).' },
      { name: 'force', value: null, sentence: 'Overwrite FILE if it exists.' },
    ],
    sentence: 'Save a page to print: "Text us", with the number of the line and a QR code.',
    run: poster,
  },
]

async function poster(call: Call): Promise<undefined> {
  const client = await runningRelay(call)
  const bytes = client.download('getPoster', { params: idIn(call) })
  const options = new Options(call.options).set('to', call.options.get('output') ?? 'text-us.html')
  const to = await saveFile({ ...call, options }, bytes, { size: null, sha256: null })
  call.out.data({ saved_to: to }, [`Saved ${to}. Open it in a browser and print it.`])
}

/** Without a running relay, these fields have no value. */
type ListedLine = Omit<PhoneLine, 'new_contacts_today' | 'capabilities'> &
  Partial<Pick<PhoneLine, 'new_contacts_today' | 'capabilities'>>

async function list(call: Call): Promise<undefined> {
  const page = await throughRelayOrFile<Page<ListedLine>>(call, {
    relay: (client) => client.ask('listPhoneLines'),
    async file({ db }) {
      const { listLines } = await import('../storage/lines.ts')
      return { data: listLines(db).map(stoppedLine), has_more: false, next_cursor: null }
    },
  })
  const reset = midnightIn(page.data.some(isAtLimit) ? await zoneOf(call) : UTC)
  const hasBoxes = page.data.some(({ box }) => box !== undefined)
  const rows = page.data.map((line) => {
    const { id, phone_number, label, driver, box } = line
    const place = hasBoxes ? [box?.name] : []
    return [id, groupedNumber(phone_number), label, driver, ...place, ...stateCells(line, reset)]
  })
  const place = hasBoxes ? ['BOX'] : []
  const head = ['ID', 'NUMBER', 'LABEL', 'DRIVER', ...place, 'STATUS', 'NEXT STEP']
  call.out.data(page, [table(head, rows)])
  if (rows.length === 0) call.out.note('No lines yet.')
}

async function zoneOf(call: Call): Promise<string> {
  const { data } = await askRelay(call, 'listSettings')
  return data.find(({ name }) => name === 'time_zone')?.value ?? UTC
}

function stateCells(line: ListedLine, reset: string) {
  if (!line.is_enabled) return [stateCell('disabled'), line.status_hint]
  if (line.status === 'online' && isAtLimit(line)) {
    const state = stateCell('online, limit reached', 'warning')
    return [state, `New contacts are possible again at ${reset}.`]
  }
  return [stateCell(line.status), line.status_hint]
}

function isAtLimit({ new_contacts_today: used, daily_contact_limit: limit }: ListedLine): boolean {
  return used !== undefined && limitLevel({ used, limit }, 'room') === 'reached'
}

async function change(call: Call): Promise<undefined> {
  const { options } = call
  const changes = {
    label: options.get('label'),
    daily_contact_limit: dailyLimitIn(call),
    is_enabled: options.switch('enabled'),
    quiet_hours: options.get('quiet-hours') === 'off' ? null : options.quietHours(', or off'),
    relay_sms: options.switch('relay-sms'),
    relay_groups: options.switch('relay-groups'),
  }
  requireChange(changes, CHANGES)
  const line = await askRelay(call, 'updatePhoneLine', { params: idIn(call), body: changes })
  call.out.data(line, [`Changed ${line.id}.`])
}

async function move(call: Call): Promise<undefined> {
  const to = call.options.get('to') ?? null
  if ((to === null) !== call.options.has('cancel')) {
    throw new UsageError('Name the machine with --to, or leave the line where it is with --cancel.')
  }
  const line = await askRelay(call, 'movePhoneLine', { params: idIn(call), body: { to } })
  const number = groupedNumber(line.phone_number)
  const place = (box: PhoneLine['box'] | null) => (box ? `on ${box.name}` : 'on this machine')
  if (line.moves_to === undefined) {
    call.out.data(line, [`${line.id} is ${place(line.box)}.`])
    return
  }
  call.out.data(line, [`${line.id} is moving. Sign in ${place(line.moves_to)} with ${number}.`])
  call.out.note('It continues by itself as soon as the number is there. Messages wait.')
}

function stoppedLine(line: Line): ListedLine {
  return {
    id: line.id,
    phone_number: line.number,
    label: line.label,
    status: 'offline',
    status_reason: 'not_running',
    status_hint: 'No relay is running. Start one: hookline serve',
    imessage_active: false,
    daily_contact_limit: line.dailyContactLimit,
    driver: line.driver,
    is_enabled: line.isEnabled,
    relay_sms: line.relaySms,
    created_at: isoTime(line.createdAt),
  }
}

/** From 0 on. */
function dailyLimitIn({ options }: Call): number | undefined {
  const text = options.get('daily-contact-limit')
  if (text === undefined) return undefined
  if (/^[0-9]{1,9}$/.test(text)) return Number(text)
  throw new UsageError('--daily-contact-limit must be a whole number.')
}
