import { OFFLINE_REASONS } from '../../../domain/line.ts'
import type { OptionValues } from '../../../domain/option.ts'
import {
  type ChecklistStep,
  type KindParts,
  type KindTools,
  type LineKind,
} from '../../line-kind.ts'
import { Launcher } from './agent/launcher.ts'
import { UsbCable } from './cable/phone-watch.ts'
import { createIphoneDriver } from './driver.ts'
import { PhoneAnchors } from './number-anchor.ts'
import { IPHONE_OPTIONS } from './options.ts'
import { phoneResource } from './phone-findings.ts'

type Options = OptionValues<typeof IPHONE_OPTIONS>

/** In the order in which a phone climbs to a line. */
const CHECKLIST: readonly ChecklistStep[] = [
  {
    title: 'The iPhone is plugged in',
    codes: ['device_absent', 'driver_failed', 'usbmux_denied'],
  },
  {
    title: 'It trusts this computer',
    codes: ['not_trusted', 'trust_dialog', 'trust_denied', 'pairing_stale', 'passcode_locked'],
  },
  {
    title: 'iOS version, settings and battery are fine',
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
    title: "The agent's launcher is ready",
    codes: ['launcher_absent', 'launcher_too_old', 'image_mount_failed', 'tunnel_failed'],
  },
  {
    title: 'The agent is running and responding',
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
    title: 'Messages is visible on its screen',
    codes: ['locked', 'alert', 'ui_unknown', 'wrong_chat'],
  },
  { title: 'Messages are sent via iMessage', codes: ['imessage_off'] },
  {
    title: "It has this line's number",
    codes: ['number_changed', 'phone_number_mismatch'],
  },
]

const FAILURES: LineKind['failures'] = {
  not_delivered: 'Messages reports that the message was not delivered.',
  unconfirmed: 'The message was handed to the iPhone, but its chat does not show it.',
  unsupported_characters: 'The text contains characters that an iPhone cannot type.',
  compose_mismatch: 'The iPhone could not take the text as it was written.',
  composer_dirty: 'The iPhone holds another text that could not be cleared.',
  wrong_chat: 'Messages on the iPhone opened a different chat than the one with the recipient.',
  ui_unknown: 'The iPhone shows a screen that Hookline does not know.',
}

/** iPhones on a cable. */
export const IPHONE_KIND: LineKind<typeof IPHONE_OPTIONS> = {
  name: 'iphone',
  title: 'iPhone',
  isReal: true,
  sharesNumber: false,
  options: IPHONE_OPTIONS,
  reasons: { absent: OFFLINE_REASONS.device_absent },
  failures: FAILURES,
  deletable: null,
  checklist: CHECKLIST,
  create: createIphone,
}

/** The cable is watched for lines of its own, and for the phones of lines that share a number. */
function createIphone(options: Options, tools: KindTools): KindParts {
  const { iphone, iphoneLines, usbmuxdAddress, iphoneAgentPort } = options
  const { numberSharers } = tools
  const isAuto = numberSharers.isExpected || iphoneLines !== null
  if (iphone === 'off' || (iphone === 'auto' && !isAuto)) {
    return { driver: null, reports: { phones: () => [] } }
  }
  const cable = new UsbCable(usbmuxdAddress, tools)
  const anchors = new PhoneAnchors(cable)
  const findings = () => anchors.findings(numberSharers.lines())
  if (iphoneLines === null) {
    return { driver: null, services: [cable], findings, reports: { phones: () => [] } }
  }
  const launcher = launcherOf(options, tools)
  const phones = { phones: iphoneLines, agentPort: iphoneAgentPort }
  const driver = createIphoneDriver(phones, { ...tools, cable, launcher })
  return {
    driver,
    services: [cable, ...(launcher === null ? [] : [launcher])],
    findings,
    reports: { phones: () => driver.reports().map(phoneResource) },
  }
}

function launcherOf(options: Options, tools: KindTools): Launcher | null {
  return Launcher.of(
    {
      preset: options.iphoneAgent,
      agentCommand: options.iphoneAgentCommand,
      tunnelCommand: options.iphoneTunnelCommand,
      goIosPath: options.iphoneGoIos,
      folder: tools.pathOf('go-ios'),
      xcodebuildPath: options.iphoneXcodebuild,
      xctestrunPath: options.iphoneXctestrun,
      bundleId: options.iphoneAgentBundle,
      port: options.iphoneAgentPort,
    },
    { ...tools, start: tools.startRead },
  )
}
