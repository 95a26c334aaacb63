// Settings are rows in the database and take effect at once. Options, which are fixed at the start, are in
// config.ts. An environment variable overrides and locks its setting.

import { ALERT_CAUSE_NAMES } from './alert.ts'
import { UTC, timeZoneNamed } from './days.ts'
import { OPT_OUT_MODES } from './opt-out.ts'
import {
  BASE_URL_KIND,
  SWITCH_KIND,
  choiceKind,
  integerKind,
  listKind,
  optionalKind,
  textKind,
  type ValueKind,
} from './value-kind.ts'

type Setting<T> = {
  readonly kind: ValueKind<T>
  readonly default: T
  readonly sentence: string
  /** True if a value may contain a key, as the URL of a monitor does. */
  readonly isSecret: boolean
}

const DAYS_MAX = 36_500
const URL_LENGTH_MAX = 1_000

/** An absolute http(s) URL without user or fragment; monitors take their key in path or query. */
const CALLED_URL_KIND = textKind(
  'URL',
  `an http or https URL without user and fragment, of ${URL_LENGTH_MAX} characters at most`,
  (text) => {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
    const { href, username, password, hash } = new URL(text)
    const isPlain = username + password + hash === ''
    return isPlain && href.length <= URL_LENGTH_MAX ? href : undefined
  },
)

/** An absolute path, or an https URL without user, query and fragment. */
const RELEASE_SOURCE_KIND = textKind(
  'SOURCE',
  'the absolute path of a folder or an https URL',
  (text) => {
    if (text.length > URL_LENGTH_MAX || text.includes('\0')) return undefined
    if (text.startsWith('/')) return text
    return /^https:/i.test(text) ? BASE_URL_KIND.parse(text) : undefined
  },
)

export const TIME_ZONE_KIND = textKind(
  'ZONE',
  'the IANA name of a time zone, such as Europe/Berlin or UTC',
  (text) => timeZoneNamed(text) ?? undefined,
)

/** Every setting, by its name. */
export const SETTINGS = {
  webhook_targets: setting(choiceKind('any-private', 'public'), {
    default: 'any-private',
    sentence: 'Addresses webhooks may use: private ones too, or public ones only.',
  }),
  announce_device_messages: setting(SWITCH_KIND, {
    default: false,
    sentence: 'Announce messages typed on the device itself to webhooks.',
  }),
  enforce_automation_pause: setting(SWITCH_KIND, {
    default: false,
    sentence: 'Refuse API sends into a conversation that a person has taken over.',
  }),
  opt_out: setting(choiceKind(...OPT_OUT_MODES), {
    default: 'enforce',
    sentence:
      'After STOP and the like: ignore it, record the sender, or also block messages to them.',
  }),
  open_metrics: setting(SWITCH_KIND, {
    default: false,
    sentence: 'Let other machines read /metrics without a key.',
  }),
  time_zone: setting(TIME_ZONE_KIND, {
    default: UTC,
    sentence: 'Time zone of the shop: the days of limits and figures follow it.',
  }),
  message_retention_days: setting(optionalKind(integerKind('DAYS', 1, DAYS_MAX), 'forever'), {
    default: null,
    sentence: 'Delete messages, and events no webhook wanted, after this many days.',
  }),
  attachment_max_mb: setting(integerKind('MB', 1, 2_048), {
    default: 100,
    sentence: 'Size of an attachment at most, in megabytes.',
  }),
  attachment_quota_gb: setting(integerKind('GB', 1, 100_000), {
    default: 10,
    sentence: 'Room for attachments on the disk, in gigabytes.',
  }),
  attachment_retention_days: setting(
    optionalKind(integerKind('DAYS', 1, DAYS_MAX), 'as-messages'),
    {
      default: null,
      sentence: 'Delete the files of attachments after this many days; their messages stay.',
    },
  ),
  attachment_wait_seconds: setting(integerKind('SECONDS', 0, 300), {
    default: 10,
    sentence: 'Time for which a received message waits for its files before it is announced.',
  }),
  box_lines_max: setting(integerKind('N', 1, 1_000), {
    default: 10,
    sentence: 'Number of lines a box may bring by itself.',
  }),
  backups_kept: setting(integerKind('N', 1, 365), {
    default: 7,
    sentence: 'Number of daily backups to keep.',
  }),
  heartbeat_url: setting(optionalKind(CALLED_URL_KIND, 'none'), {
    default: null,
    sentence:
      'URL called every 5 minutes while the relay works, for a monitor that alerts when calls stop. A line or a webhook that fails does not stop it, unless heartbeat_stops_for says so.',
    isSecret: true,
  }),
  heartbeat_stops_for: setting(optionalKind(listKind(choiceKind(...ALERT_CAUSE_NAMES)), 'none'), {
    default: null,
    sentence:
      'Causes of alerts, separated by commas: the heartbeat stops while an alert of one of them lasts.',
  }),
  release_source: setting(optionalKind(RELEASE_SOURCE_KIND, 'none'), {
    default: null,
    sentence: 'Folder or https URL of releases, looked at once a day for a newer version.',
  }),
} as const

export type SettingName = keyof typeof SETTINGS
export type SettingValues = {
  readonly [Name in SettingName]: (typeof SETTINGS)[Name] extends Setting<infer T> ? T : never
}

/** The settings set by environment variables. */
export type LockedSettings = Partial<SettingValues>

// The keys of the table are its names.
export const SETTING_NAMES = Object.keys(SETTINGS) as readonly SettingName[]

export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(SETTINGS, name)
}

/** The value of `text` for the setting; undefined if it is invalid. */
export function parseSetting<N extends SettingName>(
  name: N,
  text: string,
): SettingValues[N] | undefined {
  return kindOf(name).parse(text)
}

export function printSetting<N extends SettingName>(name: N, value: SettingValues[N]): string {
  return kindOf(name).print(value)
}

/** A value for output that others may see: only the origin of a secret URL. */
export function shownSetting(name: string, value: string): string {
  const isSecret = isSettingName(name) && SETTINGS[name].isSecret
  if (!isSecret || !URL.canParse(value)) return value
  const { origin, pathname, search } = new URL(value)
  return pathname + search === '/' ? value : `${origin}/…`
}

export function defaultSetting<N extends SettingName>(name: N): SettingValues[N] {
  return SETTINGS[name].default as SettingValues[N] // This row's type.
}

/** `HOOKLINE_WEBHOOK_TARGETS` locks `webhook_targets`. */
export function environmentOfSetting(name: SettingName): string {
  return `HOOKLINE_${name.toUpperCase()}`
}

function kindOf<N extends SettingName>(name: N): ValueKind<SettingValues[N]> {
  return SETTINGS[name].kind as unknown as ValueKind<SettingValues[N]> // This row's kind.
}

function setting<T>(
  kind: ValueKind<T>,
  more: {
    readonly default: NoInfer<T>
    readonly sentence: string
    readonly isSecret?: true | undefined
  },
): Setting<T> {
  return { ...more, kind, isSecret: more.isSecret ?? false }
}
