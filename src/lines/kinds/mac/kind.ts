import { join } from 'node:path'

import { OFFLINE_REASONS } from '../../../domain/line.ts'
import { option, type OptionValues } from '../../../domain/option.ts'
import {
  PATH_KIND,
  PHONE_NUMBER_KIND,
  choiceKind,
  optionalKind,
} from '../../../domain/value-kind.ts'
import {
  type ChecklistStep,
  type KindParts,
  type KindTools,
  type LineKind,
} from '../../line-kind.ts'
import { createMacDriver } from './driver.ts'
import { MessagesScript, type ScriptCall, type ScriptTools } from './script-runner.ts'

const SCRIPT_CALLS_MAX = 500

const OPTIONS = {
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
  macOsascript: option('mac-osascript', PATH_KIND, {
    default: '/usr/bin/osascript',
    sentence: 'The program that runs the script for Messages.',
  }),
  macOpen: option('mac-open', PATH_KIND, {
    default: '/usr/bin/open',
    sentence: 'The program that starts Messages.',
  }),
  macPgrep: option('mac-pgrep', PATH_KIND, {
    default: '/usr/bin/pgrep',
    sentence: 'The program that checks whether Messages is running.',
  }),
  macCaffeinate: option('mac-caffeinate', PATH_KIND, {
    default: '/usr/bin/caffeinate',
    sentence: 'The program that keeps the Mac awake.',
  }),
} as const

/** In the order in which the Mac line finds out: behind the first refusal it knows nothing. */
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
  // Conditions that do not stop the line now.
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
  misrouted: 'The device sent the message into another conversation.',
  ghost_row: 'The device accepted the message but never sent it.',
}

/** Messages on this computer. */
export const MAC_KIND: LineKind<typeof OPTIONS> = {
  name: 'mac',
  title: 'Messages on this Mac',
  isReal: true,
  sharesNumber: true,
  options: OPTIONS,
  reasons: { absent: OFFLINE_REASONS.device_absent },
  failures: FAILURES,
  deletable: null,
  checklist: CHECKLIST,
  create: createMac,
}

function createMac(options: OptionValues<typeof OPTIONS>, tools: KindTools): KindParts {
  const calls: ScriptCall[] = []
  const onScriptCall = (call: ScriptCall) => {
    calls.push(call)
    if (calls.length > SCRIPT_CALLS_MAX) calls.shift()
  }
  const isWanted = options.mac === 'on' || (options.mac === 'auto' && tools.platform === 'darwin')
  const paths = {
    osascript: options.macOsascript,
    open: options.macOpen,
    pgrep: options.macPgrep,
    caffeinate: options.macCaffeinate,
  }
  const device = {
    chatDbPath: chatDbPath(options, tools.homeFolder),
    phoneNumber: options.macPhoneNumber,
    platform: tools.platform,
    paths,
  }
  return {
    driver: isWanted ? createMacDriver(device, { ...tools, onScriptCall }) : null,
    reports: {
      'script-calls': () =>
        calls.map(({ keyPrefix, ...call }) => ({ ...call, key_prefix: keyPrefix })),
    },
  }
}

/** The database of Messages: of the option, or in the home folder. */
export function chatDbPath(
  { macChatDb }: { readonly macChatDb: string | null },
  homeFolder: string,
): string {
  return macChatDb ?? join(homeFolder, 'Library', 'Messages', 'chat.db')
}

/** Runs the script that only asks for the account; true where it came through. */
export async function askMessages(tools: ScriptTools, signal: AbortSignal): Promise<boolean> {
  return (await new MessagesScript(tools).account(signal)).answer === 'account'
}
