import { dirname, join } from 'node:path'

import type { ScriptCall } from '../../../api/owner.ts'
import type { Finding } from '../../../domain/finding.ts'
import { OFFLINE_REASONS } from '../../../domain/line.ts'
import { grouped } from '../../../domain/number-words.ts'
import { onlyOn, option, type OptionValues } from '../../../domain/option.ts'
import {
  choiceKind,
  optionalKind,
  PATH_KIND,
  PHONE_NUMBER_KIND,
} from '../../../domain/value-kind.ts'
import {
  type DriverLine,
  type Found,
  FULL_CAPABILITIES,
  type LineDriver,
  LineEvents,
} from '../../driver.ts'
import type { ChecklistStep, CreatedKind, KindHost, LineKind } from '../../line-kind.ts'
import { ChatDb } from './chat-db.ts'
import { troubleFinding, TROUBLES } from './condition.ts'
import { STAGING_FOLDER } from './expectation.ts'
import { MacLineRun } from './line-run.ts'
import { type Mac, MessagesApp, macUser } from './mac-host.ts'
import { NumberLookup, numbersOf } from './number-lookup.ts'
import type { Reading } from './reading.ts'
import { MessagesScript, type ScriptHost } from './script-runner.ts'

const SCRIPT_CALLS_MAX = 500

const program = (name: string, sentence: string) =>
  option(`mac-${name}`, PATH_KIND, { default: `/usr/bin/${name}`, sentence })

const OPTIONS = onlyOn('darwin', {
  mac: option('mac', choiceKind('auto', 'on', 'off'), {
    isHarmless: true,
    default: 'auto',
    sentence: 'Use Messages on this computer as a line; auto: on a Mac.',
  }),
  macPhoneNumber: option('mac-phone-number', optionalKind(PHONE_NUMBER_KIND, 'auto'), {
    isHarmless: true,
    default: null,
    sentence: "The Mac line's number; auto reads it from the history of Messages.",
  }),
  macChatDb: option('mac-chat-db', optionalKind(PATH_KIND, 'auto'), {
    default: null,
    sentence: 'The Messages database; auto: the one in the home folder.',
  }),
  macStaging: option('mac-staging', choiceKind('messages', 'pictures'), {
    isHarmless: true,
    default: 'messages',
    sentence: 'The folder from which Messages sends files: its own, or one in Pictures.',
  }),
  macOsascript: program('osascript', 'The program that runs the script for Messages.'),
  macOpen: program('open', 'The program that starts Messages.'),
  macPgrep: program('pgrep', 'The program that checks whether Messages is running.'),
  macCaffeinate: program('caffeinate', 'The program that keeps the Mac awake.'),
})

/** In the order in which the Mac line checks: after the first failure it knows nothing more. */
const CHECKLIST: readonly ChecklistStep[] = [
  { title: "This line's Mac is here", codes: ['device_absent', 'driver_failed'] },
  {
    title: 'Hookline can read messages',
    codes: ['chat_db_absent', 'full_disk_access', 'wrong_owner', 'chat_db_unreadable'],
    isOfMachine: true,
  },
  { title: 'A user is logged in on the Mac', codes: ['no_gui_session'], isOfMachine: true },
  {
    title: 'Messages is running and responding',
    codes: ['messages_not_running', 'messages_not_answering', 'sends_vanish'],
    isOfMachine: true,
  },
  {
    title: 'Hookline can control Messages',
    codes: ['automation_denied', 'script_refused'],
    isOfMachine: true,
  },
  {
    title: 'Messages is signed in to iMessage',
    codes: ['messages_signed_out', 'imessage_not_connected'],
    isOfMachine: true,
  },
  {
    title: "Messages sends from this line's number",
    codes: ['number_unknown', 'number_changed', 'sends_as_other_number'],
    isOfMachine: true,
  },
  // These do not stop the line now.
  {
    title: 'Hookline can put files where Messages reads them',
    codes: ['staging_denied'],
    isOptional: true,
  },
  {
    title: 'The Mac stays awake and restarts after a power cut',
    codes: ['sleep_enabled', 'autorestart_off', 'auto_login_off', 'filevault_on'],
    isOptional: true,
  },
]

const FAILURES: LineKind['failures'] = {
  send_timed_out: 'The device gave up: sending took too long.',
  network_unavailable: 'The device gave up: it had no network.',
  imessage_server_error: 'Apple refused the message for reasons of its own.',
  imessage_account_problem: 'The iMessage account of the line has a problem.',
  system_update_needed: 'The device needs a system update before it can send.',
  encryption_failed: 'The message could not be encrypted for the recipient.',
  recipient_rejected: 'The recipient does not accept messages from this line.',
  staging_failed: 'The file could not be put where Messages reads it.',
  misrouted: 'The device sent the message into another conversation.',
  ghost_row: 'The device accepted the message but never sent it.',
}

export const MAC_KIND: LineKind<typeof OPTIONS> = {
  name: 'mac',
  title: 'Messages on this Mac',
  isReal: true,
  sharesNumber: true,
  abilities: FULL_CAPABILITIES,
  options: OPTIONS,
  reasons: { absent: OFFLINE_REASONS.device_absent },
  failures: FAILURES,
  deletable: null,
  checklist: CHECKLIST,
  create: createMac,
}

function createMac(host: KindHost, options: OptionValues<typeof OPTIONS>): CreatedKind {
  const calls: ScriptCall[] = []
  const onScriptCall = (call: ScriptCall) => {
    calls.push(call)
    if (calls.length > SCRIPT_CALLS_MAX) calls.shift()
  }
  const isWanted = options.mac === 'on' || (options.mac === 'auto' && host.platform === 'darwin')
  return {
    driver: isWanted ? createMacDriver(host, options, { onScriptCall }) : null,
    reports: { 'script-calls': () => calls },
  }
}

export function chatDbPath(
  { macChatDb }: { readonly macChatDb: string | null },
  homeFolder: string,
): string {
  return macChatDb ?? join(homeFolder, 'Library', 'Messages', 'chat.db')
}

/** The sandbox of Messages lets it read its own folder and Pictures. */
function stagingFolder(
  options: Pick<MacOptions, 'macStaging' | 'macChatDb'>,
  homeFolder: string,
): string {
  if (options.macStaging === 'pictures') return join(homeFolder, 'Pictures', STAGING_FOLDER)
  return join(dirname(chatDbPath(options, homeFolder)), 'Attachments', STAGING_FOLDER)
}

/** Asks only for the account; returns whether Messages answered. */
export async function askMessages(
  host: ScriptHost,
  osascriptPath: string,
  signal: AbortSignal,
): Promise<boolean> {
  const script = new MessagesScript(host, osascriptPath, () => {})
  return (await script.account(signal)).answer === 'account'
}

type MacOptions = Omit<OptionValues<typeof OPTIONS>, 'mac'>

export type MacDriverOptions = {
  readonly onScriptCall?: ((call: ScriptCall) => void) | undefined
  readonly openChatDb?: ((path: string) => ChatDb) | undefined
}

/** One line: Messages of the Mac user that runs the relay. */
export function createMacDriver(
  host: KindHost,
  options: MacOptions,
  { onScriptCall = () => {}, openChatDb = (path) => ChatDb.open(path) }: MacDriverOptions = {},
): LineDriver {
  const path = chatDbPath(options, host.homeFolder)
  const { macOpen: open, macPgrep: pgrep, macCaffeinate: caffeinate } = options
  const mac: Mac = {
    user: macUser(host),
    app: new MessagesApp(host, { open, pgrep, caffeinate }),
    script: new MessagesScript(host, options.macOsascript, onScriptCall),
    chatDb: { path, open: () => openChatDb(path) },
    stagingFolder: stagingFolder(options, host.homeFolder),
  }
  const lookup = new NumberLookup(host, mac.chatDb, options.macPhoneNumber)
  let current: { readonly run: MacLineRun; readonly line: DriverLine } | null = null
  return {
    kind: 'mac',
    async discover(signal): Promise<readonly Found[]> {
      const key = await mac.user.deviceKey(signal)
      return key === null ? [] : [{ key, number: await lookup.number(signal) }]
    },
    async checkup(signal): Promise<readonly Finding[]> {
      if (current !== null) return lineFindings(current.run, current.line)
      const { trouble } = lookup
      if (trouble !== null) return [troubleFinding(trouble, null)]
      const key = await mac.user.deviceKey(signal)
      return lookup.isUnknown ? [numberUnknown(key)] : []
    },
    async run(line, listener, signal) {
      const run = new MacLineRun(host, mac, line, new LineEvents(listener, signal))
      current = { run, line }
      try {
        await run.run(signal)
      } finally {
        current = null
      }
    },
  }
}

/** A line cannot be listed without its number. */
function numberUnknown(key: string | null): Finding {
  return {
    code: 'number_unknown',
    severity: 'error',
    title: 'The phone number of this Mac is unknown',
    why: 'The history of Messages does not show which number it sends from.',
    fix: 'Set HOOKLINE_MAC_PHONE_NUMBER to the number (as +12025550123) and restart Hookline.',
    key,
    depends_on: null,
  }
}

type Remark = Omit<Finding, 'key' | 'depends_on'>

function lineFindings(
  line: MacLineRun,
  { key, number }: { readonly key: string; readonly number: string },
): readonly Finding[] {
  const { trouble } = line
  const worst = trouble === null ? [] : [troubleFinding(trouble, key)]
  const others = [
    ...stateFindings(line),
    ...numberFindings(line.database.owner.aliases, number),
    ...readingFindings(line.database.reading),
  ]
  return [...worst, ...others.map((found) => ({ ...found, key, depends_on: null }))]
}

function stateFindings(line: MacLineRun): readonly Remark[] {
  const { trouble, pausedMs } = line
  const found: Remark[] = []
  if (trouble === null && line.areSendsVanishing) {
    found.push({
      code: 'sends_vanish',
      severity: 'warning',
      ...TROUBLES.sends_vanish,
      why: 'The last messages that Messages accepted left no trace in it. The next one shows whether the problem persists.',
    })
  }
  if (trouble === null && !line.isConnected) {
    found.push({
      code: 'imessage_not_connected',
      severity: 'warning',
      title: 'Messages is not connected to Apple',
      why: 'Its iMessage account is signed in but offline. Messages wait until it is back.',
      fix: 'Check the internet connection of this Mac.',
    })
  }
  if (trouble !== 'full_disk_access' && !line.canStage) {
    found.push({
      code: 'staging_denied',
      severity: 'warning',
      title: 'Files cannot be sent',
      why: 'Hookline cannot write to the folder from which Messages sends files.',
      fix: 'Set HOOKLINE_MAC_STAGING to pictures and restart Hookline, or check the disk of this Mac.',
    })
  }
  if (pausedMs > 0) {
    const minutes = Math.ceil(pausedMs / 60_000)
    found.push({
      code: 'new_contacts_paused',
      severity: 'warning',
      title: 'Sending to new contacts is paused',
      why: `Five recipients within an hour were not on iMessage. Sending to new contacts resumes in ${minutes} minutes.`,
      fix: 'Check the numbers that your app writes to: Apple blocks lines that guess.',
    })
  }
  return found
}

function numberFindings(aliases: ReadonlyMap<string, number>, number: string): readonly Remark[] {
  const numbers = numbersOf(aliases).map(([alias]) => alias)
  const [used] = numbers
  if (used === undefined || (aliases.has(number) && numbers.every((alias) => alias === number))) {
    return []
  }
  if (!aliases.has(number)) {
    return [
      {
        code: 'sends_as_other_number',
        severity: 'warning',
        title: 'Messages sends from a different number',
        why: `Its last messages used a number that ends in ${used.slice(-4)}.`,
        fix: 'In Messages, Settings, iMessage, choose the number for new conversations, or correct HOOKLINE_MAC_PHONE_NUMBER.',
      },
    ]
  }
  return [
    {
      code: 'several_numbers',
      severity: 'info',
      title: 'This Mac uses more than one number',
      why: 'Messages to all of them are received here. Messages decides for each conversation which number it sends from.',
      fix: 'To separate the numbers, use one macOS user or one Mac for each.',
    },
  ]
}

function readingFindings(reading: Reading | null): readonly Remark[] {
  const found: Remark[] = []
  const oldCount = reading?.countOf('history') ?? 0
  if (oldCount > 0) {
    found.push({
      code: 'old_messages_synced',
      severity: 'info',
      title: 'Old messages were synced from iCloud',
      why: `Old messages received: ${grouped(oldCount)}. They are listed, and were not announced.`,
      fix: 'No action needed.',
    })
  }
  const undecodableCount = reading?.countOf('undecodable') ?? 0
  if (undecodableCount > 0) {
    found.push({
      code: 'undecodable_bodies',
      severity: 'warning',
      title: 'The text of some messages could not be read',
      why: `Messages since the line started in a format that Hookline does not know: ${grouped(undecodableCount)}.`,
      fix: 'Upgrade Hookline. If that does not help, record "hookline mac trace" and report it.',
    })
  }
  return found
}
