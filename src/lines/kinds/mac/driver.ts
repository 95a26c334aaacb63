import { dirname, join } from 'node:path'

import type { ScriptCall } from '../../../api/owner.ts'
import type { Finding } from '../../../domain/finding.ts'
import { grouped } from '../../../domain/number-words.ts'
import { type DriverLine, type Found, type LineDriver, LineEvents } from '../../driver.ts'
import type { KindHost } from '../../line-kind.ts'
import { ChatDb } from './chat-db.ts'
import { troubleFinding, TROUBLES } from './condition.ts'
import { STAGING_FOLDER } from './expectation.ts'
import { MacLineRun } from './line-run.ts'
import { type Mac, MessagesApp, macUser } from './mac-host.ts'
import { NumberLookup, numbersOf } from './number-lookup.ts'
import type { MacOptions } from './options.ts'
import type { Reading } from './reading.ts'
import { MessagesScript, type ScriptHost } from './script-runner.ts'

export function chatDbPath(
  { macChatDb }: { readonly macChatDb: string | null },
  homeFolder: string,
): string {
  return macChatDb ?? join(homeFolder, 'Library', 'Messages', 'chat.db')
}

/** The folder for copies of files. The sandbox of Messages lets it read its own folder and Pictures. */
function stagingFolder(
  options: Pick<MacOptions, 'macStaging' | 'macChatDb'>,
  homeFolder: string,
): string {
  if (options.macStaging === 'pictures') return join(homeFolder, 'Pictures', STAGING_FOLDER)
  return join(dirname(chatDbPath(options, homeFolder)), 'Attachments', STAGING_FOLDER)
}

/** Asks Messages only about its account; returns whether it answered. */
export async function askMessages(
  host: ScriptHost,
  osascriptPath: string,
  signal: AbortSignal,
): Promise<boolean> {
  const script = new MessagesScript(host, osascriptPath, () => {})
  return (await script.account(signal)).answer === 'account'
}

type DriverOptions = Omit<MacOptions, 'mac'>

export type MacDriverOptions = {
  readonly onScriptCall?: ((call: ScriptCall) => void) | undefined
  readonly openChatDb?: ((path: string) => ChatDb) | undefined
}

/** One line: Messages of the Mac user that runs the relay. */
export function createMacDriver(
  host: KindHost,
  options: DriverOptions,
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

/** Without its number, the Mac cannot be listed as a line. */
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

type LineFinding = Omit<Finding, 'key' | 'depends_on'>

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

function stateFindings(line: MacLineRun): readonly LineFinding[] {
  const { trouble, pausedMs } = line
  const found: LineFinding[] = []
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

function numberFindings(
  aliases: ReadonlyMap<string, number>,
  number: string,
): readonly LineFinding[] {
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

function readingFindings(reading: Reading | null): readonly LineFinding[] {
  const found: LineFinding[] = []
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
