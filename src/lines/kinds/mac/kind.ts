import type { ScriptCall } from '../../../api/owner.ts'
import { OFFLINE_REASONS } from '../../../domain/line.ts'
import { FULL_CAPABILITIES, loadedDriver } from '../../driver.ts'
import type { ChecklistStep, CreatedKind, KindHost, LineKind } from '../../line-kind.ts'
import { MAC_OPTIONS, type MacOptions } from './options.ts'

const SCRIPT_CALLS_MAX = 500

/** In the order of the line's checks: after the first failure it knows nothing about the later ones. */
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
  // These findings do not stop the line now.
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

export const MAC_KIND: LineKind<typeof MAC_OPTIONS> = {
  name: 'mac',
  title: 'Messages on this Mac',
  start: {
    words: 'Sign in to Messages on this Mac, and give Hookline its permissions.',
    guide: 'mac',
  },
  isReal: true,
  sharesNumber: true,
  abilities: FULL_CAPABILITIES,
  options: MAC_OPTIONS,
  reasons: { absent: OFFLINE_REASONS.device_absent },
  failures: FAILURES,
  deletable: null,
  checklist: CHECKLIST,
  create: createMac,
}

function createMac(host: KindHost, options: MacOptions): CreatedKind {
  const calls: ScriptCall[] = []
  const onScriptCall = (call: ScriptCall) => {
    calls.push(call)
    if (calls.length > SCRIPT_CALLS_MAX) calls.shift()
  }
  const isWanted = options.mac === 'on' || (options.mac === 'auto' && host.platform === 'darwin')
  const load = async () =>
    (await import('./driver.ts')).createMacDriver(host, options, { onScriptCall })
  return {
    driver: isWanted ? loadedDriver('mac', load) : null,
    reports: { 'script-calls': () => calls },
  }
}
