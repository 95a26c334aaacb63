// The options of a start: one table of what each is called, takes, and is for. Settings that can be changed
// while the relay runs are in setting.ts.

import { DEFAULT_RETRY_SCHEDULE_MS } from './retry.ts'
import {
  ADDRESS_RANGE_KIND,
  BASE_URL_KIND,
  COMMAND_KIND,
  PASSWORD_KIND,
  MUX_ADDRESS_KIND,
  PHONE_CHOICE_KIND,
  PHONE_NUMBER_KIND,
  choiceKind,
  durationKind,
  integerKind,
  listKind,
  optionalKind,
  textKind,
  type ValueKind,
} from './value-kind.ts'

type Option<T> = {
  /** As it stands in the flag `--send-wait` and in the variable `HOOKLINE_SEND_WAIT`. */
  readonly name: string
  readonly kind: ValueKind<T>
  /** Null where there is none, or where it depends on the system. */
  readonly default: T | null
  readonly sentence: string
  /** Whether nobody may read the value: then no flag takes it, for every user sees those of a process. */
  readonly isSecret: boolean
  /**
   * Whether it names a program, a host, a port, a file elsewhere or a password, so that whoever wrote it
   * has a say over this machine: a restore takes it over only when it is asked to.
   */
  readonly needsTrust: boolean
  /** The environment variable, where other programs have given it a name. */
  readonly variable: string | null
}

export const PATH_KIND = textKind('PATH', 'a path')
const DAY_MS = 86_400_000

/** Every option. */
export const OPTIONS = {
  dataDir: option('data-dir', PATH_KIND, {
    default: null,
    sentence: 'The folder in which everything is kept.',
  }),
  host: option('host', textKind('HOST', 'an address or a name'), {
    default: '127.0.0.1',
    sentence: 'The address to listen on.',
  }),
  port: option('port', integerKind('PORT', 0, 65_535), {
    default: 4665,
    sentence: 'The port to listen on; 0 takes a free one.',
  }),
  publicUrl: option('public-url', optionalKind(BASE_URL_KIND, 'none'), {
    default: null,
    sentence: 'The address under which others reach the relay, where a proxy stands before it.',
  }),
  trustedProxies: option('trusted-proxies', listKind(ADDRESS_RANGE_KIND), {
    default: [],
    sentence: 'The proxies whose X-Forwarded-For counts.',
  }),
  adminPassword: option('admin-password', optionalKind(PASSWORD_KIND, 'none'), {
    default: null,
    sentence: "The dashboard's password, where no setup link is to set it.",
    isSecret: true,
  }),
  backupFolder: option('backup-folder', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'A second folder for the daily back-ups, best on another disk.',
  }),
  mac: option('mac', choiceKind('auto', 'on', 'off'), {
    isHarmless: true,
    default: 'auto',
    sentence: 'Whether Messages on this computer is a line; auto means on a Mac.',
  }),
  macPhoneNumber: option('mac-phone-number', optionalKind(PHONE_NUMBER_KIND, 'auto'), {
    isHarmless: true,
    default: null,
    sentence: 'The number that the Mac line sends as; auto reads it from the history of Messages.',
  }),
  macChatDb: option('mac-chat-db', optionalKind(PATH_KIND, 'auto'), {
    default: null,
    sentence: 'The database of Messages; auto is the one in the home folder.',
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
    sentence: 'The program that says whether Messages runs.',
  }),
  macCaffeinate: option('mac-caffeinate', PATH_KIND, {
    default: '/usr/bin/caffeinate',
    sentence: 'The program that keeps the Mac awake.',
  }),
  iphone: option('iphone', choiceKind('auto', 'on', 'off'), {
    isHarmless: true,
    default: 'auto',
    sentence: 'Whether iPhones on a cable are watched; auto means where there is a Mac line.',
  }),
  usbmuxdAddress: option('usbmuxd-address', optionalKind(MUX_ADDRESS_KIND, 'auto'), {
    default: null,
    variable: 'USBMUXD_SOCKET_ADDRESS',
    sentence: 'Where usbmuxd listens; auto is the usual place.',
  }),
  iphoneLines: option('iphone-lines', optionalKind(listKind(PHONE_CHOICE_KIND), 'off'), {
    isHarmless: true,
    default: null,
    sentence: 'The iPhones on a cable that are lines of their own (experimental).',
  }),
  iphoneAgent: option('iphone-agent', choiceKind('attach', 'go-ios', 'xcodebuild'), {
    default: 'attach',
    sentence:
      'The commands that start WebDriverAgent on an iPhone; with attach you start it yourself.',
  }),
  iphoneAgentCommand: option('iphone-agent-command', optionalKind(COMMAND_KIND, 'preset'), {
    default: null,
    sentence: 'The command that runs WebDriverAgent on an iPhone; preset is that of iphone-agent.',
  }),
  iphoneTunnelCommand: option('iphone-tunnel-command', optionalKind(COMMAND_KIND, 'preset'), {
    default: null,
    sentence: 'A command that runs beside it for all iPhones; preset is that of iphone-agent.',
  }),
  iphoneAgentPort: option('iphone-agent-port', integerKind('PORT', 1, 65_535), {
    default: 8_100,
    sentence: 'The port of WebDriverAgent on the iPhone.',
  }),
  iphoneAgentBundle: option(
    'iphone-agent-bundle',
    textKind('ID', 'a bundle id such as com.example.WebDriverAgentRunner.xctrunner'),
    {
      default: 'com.facebook.WebDriverAgentRunner.xctrunner',
      sentence: 'The bundle id of WebDriverAgent, as it was signed.',
    },
  ),
  iphoneGoIos: option('iphone-go-ios', PATH_KIND, {
    default: '/usr/local/bin/ios',
    sentence: 'The program go-ios.',
  }),
  iphoneXcodebuild: option('iphone-xcodebuild', PATH_KIND, {
    default: '/usr/bin/xcodebuild',
    sentence: 'The program xcodebuild.',
  }),
  iphoneXctestrun: option('iphone-xctestrun', optionalKind(PATH_KIND, 'none'), {
    default: null,
    sentence: 'The .xctestrun file of WebDriverAgent that xcodebuild runs.',
  }),
  simulatedLines: option('simulated-lines', integerKind('N', 0, 99), {
    isHarmless: true,
    default: 0,
    sentence: 'How many simulated lines there are.',
  }),
  simulatedDelayMs: option('simulated-delay-ms', integerKind('MS', 0, 3_600_000), {
    isHarmless: true,
    default: 400,
    sentence: 'Milliseconds until a simulated person gets a message, and again until it is read.',
  }),
  webhookRetryScheduleMs: option('webhook-retry-schedule', listKind(durationKind(1, 30 * DAY_MS)), {
    isHarmless: true,
    default: DEFAULT_RETRY_SCHEDULE_MS,
    sentence: 'The delays between the attempts of a delivery.',
  }),
  sendWaitMs: option('send-wait', durationKind(0, 60_000), {
    isHarmless: true,
    default: 15_000,
    sentence: 'How long the answer to a send waits while a line works on it.',
  }),
} as const

export type OptionName = keyof typeof OPTIONS
export type OptionValues = {
  readonly [Name in OptionName]: (typeof OPTIONS)[Name] extends Option<infer T> ? T : never
}

// The keys of the table are its names.
export const OPTION_NAMES = Object.keys(OPTIONS) as readonly OptionName[]

/** `--simulated-lines` for `simulatedLines`. */
export function flagOf(name: OptionName): string {
  return `--${OPTIONS[name].name}`
}

/** `HOOKLINE_SIMULATED_LINES` for `simulatedLines`. */
export function environmentOf(name: OptionName): string {
  const option = OPTIONS[name]
  return option.variable ?? `HOOKLINE_${option.name.replaceAll('-', '_').toUpperCase()}`
}

function option<T>(
  name: string,
  kind: ValueKind<T>,
  more: {
    readonly default: NoInfer<T> | null
    readonly sentence: string
    readonly isSecret?: true | undefined
    readonly isHarmless?: true | undefined
    readonly variable?: string | undefined
  },
): Option<T> {
  const { isHarmless = false, isSecret = false, variable = null, ...rest } = more
  return { name, kind, ...rest, isSecret, variable, needsTrust: !isHarmless }
}
