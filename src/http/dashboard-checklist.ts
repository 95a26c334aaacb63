// What must be so for a line to work, and whether it is: the health catalogue tells what is wrong, and
// the list here what else there is to ask.

import type { Check } from '../api/dashboard.ts'
import type { HealthFinding } from '../api/health.ts'
import type { PhoneLine } from '../api/phone-lines.ts'

/** What is asked of a line, and the findings or reasons for being offline that deny it. */
type Step = { readonly title: string; readonly codes: readonly string[] }

/** In the order in which the Mac line finds out: behind the first refusal it knows nothing. */
const MAC_STEPS: readonly Step[] = [
  { title: 'The Mac of this line is here', codes: ['device_absent', 'driver_failed'] },
  {
    title: 'Hookline may read the messages',
    codes: ['chat_db_absent', 'full_disk_access', 'wrong_owner', 'chat_db_unreadable'],
  },
  { title: 'Somebody is logged in at the screen', codes: ['no_gui_session'] },
  {
    title: 'Messages runs and answers',
    codes: ['messages_not_running', 'messages_not_answering', 'sends_vanish'],
  },
  { title: 'Hookline may control Messages', codes: ['automation_denied', 'script_refused'] },
  {
    title: 'Messages is signed in to iMessage',
    codes: ['messages_signed_out', 'imessage_not_connected'],
  },
  {
    title: 'It sends from the number of this line',
    codes: ['number_unknown', 'number_changed', 'sends_as_other_number'],
  },
]

/** What a line may lack without being stopped by it now. */
const MAC_POWER: Step = {
  title: 'The Mac stays awake, and comes back after a power cut',
  codes: ['sleep_enabled', 'autorestart_off', 'auto_login_off', 'filevault_on'],
}

/** In the order in which a phone climbs to a line. */
const IPHONE_STEPS: readonly Step[] = [
  {
    title: 'The iPhone is plugged in',
    codes: ['device_absent', 'driver_failed', 'usbmux_denied'],
  },
  {
    title: 'It trusts this computer',
    codes: ['not_trusted', 'trust_dialog', 'trust_denied', 'pairing_stale', 'passcode_locked'],
  },
  {
    title: 'It can be a line: its iOS, its settings and its power',
    codes: [
      'unreadable',
      'ios_too_old',
      'developer_mode_off',
      'language_not_english',
      'battery_empty',
      'battery_low',
    ],
  },
  {
    title: 'What starts the agent is ready',
    codes: ['launcher_absent', 'launcher_too_old', 'image_mount_failed', 'tunnel_failed'],
  },
  {
    title: 'The agent runs and answers',
    codes: [
      'agent_not_installed',
      'agent_expired',
      'launch_failed',
      'passcode_prompt',
      'agent_starting',
      'agent_down',
      'agent_stuck',
      'agent_shared',
    ],
  },
  {
    title: 'Messages can be seen on its screen',
    codes: ['locked', 'alert', 'ui_unknown', 'wrong_chat'],
  },
  { title: 'Messages leave by iMessage', codes: ['imessage_off'] },
  {
    title: 'It has the number of this line',
    codes: ['number_changed', 'phone_number_mismatch'],
  },
]

const SHORTCUTS_STEPS: readonly Step[] = [
  { title: 'The bridge of this line is there', codes: ['device_absent', 'driver_failed'] },
  { title: 'A shortcut asks for messages', codes: ['shortcut_silent'] },
]

const SIMULATED_STEPS: readonly Step[] = [
  { title: 'The relay was started with this line', codes: ['not_configured'] },
]

const STEPS: Readonly<Record<string, readonly Step[]>> = {
  mac: MAC_STEPS,
  iphone: IPHONE_STEPS,
  shortcuts: SHORTCUTS_STEPS,
  simulated: SIMULATED_STEPS,
}

const PAUSED: Check = {
  state: 'warn',
  title: 'The line is paused',
  why: 'When off, it still receives. Outgoing messages wait up to 24 hours.',
  fix: 'Turn on "Send messages" in its settings.',
}

const WITHOUT_IMESSAGE = ['imessage_off', 'imessage_not_connected']
const NO_IMESSAGE: Check = {
  state: 'bad',
  title: 'iMessage is not active on this line',
  why: "It can't send messages.",
  fix: "Turn on iMessage in the device's settings.",
}

/** Reasons for being offline that come without a finding of their own. */
const DENIALS: Readonly<Record<string, string>> = {
  device_absent: 'The device is not connected',
  driver_failed: 'The line stopped with an error',
  not_configured: 'The relay was started without this line',
  number_changed: 'The device has a new number',
  shortcut_silent: 'No shortcut has checked for messages recently',
}

/** The findings that speak of the machine, not of one line, and matter to a line of this kind. */
const OF_MACHINE: Readonly<Record<string, readonly string[]>> = {
  mac: [...MAC_STEPS, MAC_POWER].flatMap(({ codes }) => codes),
  iphone: IPHONE_STEPS.flatMap(({ codes }) => codes),
}

/** Findings in whose place the list has a check of its own. */
const TOLD_OTHERWISE: readonly string[] = ['line_offline', 'limit_near', 'limit_reached']

export function checklist(line: PhoneLine, findings: readonly HealthFinding[]): readonly Check[] {
  const ofMachine = OF_MACHINE[line.driver] ?? []
  const own = findings.filter(({ line_id, code }) =>
    line_id === null ? ofMachine.includes(code) : line_id === line.id,
  )
  const steps = STEPS[line.driver] ?? []
  const named = new Set([...steps, MAC_POWER].flatMap(({ codes }) => codes))
  const others = own.filter(({ code }) => !TOLD_OTHERWISE.includes(code) && !named.has(code))
  return [
    ...known(steps.flatMap((step) => checksOf(step, line, own))),
    ...(line.driver === 'mac' ? checksOf(MAC_POWER, line, own) : []),
    ...(named.has(line.status_reason ?? '') ? [] : unexplained(own)),
    ...(isSilentlyOff(line, own) ? [NO_IMESSAGE] : []),
    ...(line.is_enabled ? [] : [PAUSED]),
    roomForContacts(line),
    ...others.map(foundCheck),
  ]
}

/** Whether iMessage is off and no finding says so with its reason. */
function isSilentlyOff(line: PhoneLine, own: readonly HealthFinding[]): boolean {
  const isTold = own.some(({ code }) => WITHOUT_IMESSAGE.includes(code))
  return line.status === 'online' && !line.imessage_active && !isTold
}

/** How a line stands as a whole, in a sentence. */
export function summaryOf(checks: readonly Check[], isOffline: boolean): string {
  const has = (wanted: Check['state']) => checks.some(({ state }) => state === wanted)
  if (has('bad')) return 'Fix the failed checks, from the top down. The list updates automatically.'
  if (isOffline) return 'The line is offline.'
  if (has('warn')) return 'Working, with warnings.'
  return 'All checks passed. This line can send and receive.'
}

/** What the Mac that the relay runs on needs, whether or not a line of it is known yet. */
export function macChecklist(findings: readonly HealthFinding[]): readonly Check[] {
  const noReason = { status_reason: null, status_hint: null }
  return known(MAC_STEPS.slice(1).flatMap((step) => checksOf(step, noReason, findings)))
}

function checksOf(
  step: Step,
  line: Pick<PhoneLine, 'status_reason' | 'status_hint'>,
  findings: readonly HealthFinding[],
): readonly Check[] {
  const found = findings.filter(({ code }) => step.codes.includes(code))
  if (found.length > 0) return found.map(foundCheck)
  const reason = line.status_reason ?? ''
  if (!step.codes.includes(reason)) {
    return [{ state: 'ok', title: step.title, why: null, fix: null }]
  }
  const title = DENIALS[reason] ?? 'The line is offline'
  return [{ state: 'bad', title, why: null, fix: line.status_hint }]
}

/** That the line is offline, where no other finding says why. */
function unexplained(findings: readonly HealthFinding[]): readonly Check[] {
  return findings
    .filter(({ code, depends_on }) => code === 'line_offline' && depends_on === null)
    .map(foundCheck)
}

const STATES: Readonly<Record<string, Check['state']>> = { info: 'info', error: 'bad' }

function foundCheck({ severity, title, why, fix }: HealthFinding): Check {
  return { state: STATES[severity] ?? 'warn', title, why, fix }
}

/** Behind a step that fails nothing is known. */
function known(checks: readonly Check[]): readonly Check[] {
  const failed = checks.findIndex(({ state }) => state === 'bad')
  return checks.map((check, place) =>
    failed >= 0 && place > failed && check.state === 'ok' ? { ...check, state: 'unknown' } : check,
  )
}

function roomForContacts({ new_contacts_today, daily_contact_limit }: PhoneLine): Check {
  const title = 'New contacts left for today'
  if (new_contacts_today < daily_contact_limit) return { state: 'ok', title, why: null, fix: null }
  if (daily_contact_limit === 0) {
    const why = 'Its daily new-contact limit is 0. Existing contacts still work.'
    return { state: 'info', title: "This line doesn't message new contacts", why, fix: null }
  }
  return {
    state: 'warn',
    title: 'No new contacts left for today',
    why: 'No new contacts until midnight UTC. Existing contacts still work.',
    fix: 'Wait, use another line, or raise the limit in its settings. Apple blocks lines that message many strangers.',
  }
}
