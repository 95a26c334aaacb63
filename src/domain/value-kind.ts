// How values of options and settings are written, the same in flags, the environment, files and `config set`.

/** A kind of value. `parse` returns undefined if the text is invalid. */
export type ValueKind<T> = {
  /** The value's name in the help, such as `PORT`. */
  readonly placeholder: string
  /** The right form; completes "must be …". */
  readonly wanted: string
  parse(text: string): T | undefined
  print(value: T): string
}

const UNITS_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
const LIST_LENGTH_MAX = 50

/** A text; by default any that isn't empty. */
export function textKind(
  placeholder: string,
  wanted: string,
  parse = (text: string): string | undefined =>
    text === '' || text.includes('\0') ? undefined : text,
): ValueKind<string> {
  return { placeholder, wanted, parse, print: (value) => value }
}

export const PATH_KIND = textKind('PATH', 'a path')

export function integerKind(placeholder: string, min: number, max: number): ValueKind<number> {
  return {
    placeholder,
    wanted: `a whole number from ${min} to ${max}`,
    parse: (text) => {
      const value = /^[0-9]{1,15}$/.test(text) ? Number(text) : -1
      return value >= min && value <= max ? value : undefined
    },
    print: String,
  }
}

export function choiceKind<const T extends string>(...choices: readonly T[]): ValueKind<T> {
  return {
    placeholder: choices.join('|'),
    wanted: choices.join(' or '),
    parse: (text) => choices.find((choice) => choice === text),
    print: (value) => value,
  }
}

export const SWITCH_KIND: ValueKind<boolean> = {
  placeholder: 'true|false',
  wanted: 'true or false',
  parse: (text) => {
    if (['true', 'on', '1'].includes(text)) return true
    return ['false', 'off', '0'].includes(text) ? false : undefined
  },
  print: String,
}

/** Milliseconds, written as `500ms`, `15s`, `2m`, `6h` or `1d`. */
export function durationKind(minMs: number, maxMs: number): ValueKind<number> {
  return {
    placeholder: 'TIME',
    wanted: `a time from ${printDuration(minMs)} to ${printDuration(maxMs)}, as 500ms, 15s, 2m or 6h`,
    parse: (text) => {
      const ms = parseDuration(text)
      return ms !== undefined && ms >= minMs && ms <= maxMs ? ms : undefined
    },
    print: printDuration,
  }
}

/** One or more values of `kind`, separated by commas. */
export function listKind<T>(kind: ValueKind<T>): ValueKind<readonly T[]> {
  return {
    placeholder: `${kind.placeholder},…`,
    wanted: `${kind.wanted}; several with commas between, ${LIST_LENGTH_MAX} at most`,
    parse: (text) => {
      const parts = text.split(',').map((part) => kind.parse(part.trim()))
      const values = parts.filter((part) => part !== undefined)
      return values.length === parts.length && values.length <= LIST_LENGTH_MAX ? values : undefined
    },
    print: (values) => values.map((value) => kind.print(value)).join(','),
  }
}

/** A value that can be absent, which is written as `none`. */
export function optionalKind<T>(kind: ValueKind<T>, none: string): ValueKind<T | null> {
  return {
    placeholder: kind.placeholder,
    wanted: `${kind.wanted}, or ${none}`,
    parse: (text) => (text === none ? null : kind.parse(text)),
    print: (value) => (value === null ? none : kind.print(value)),
  }
}

/** An absolute http(s) URL without user, query or fragment; a slash at its end is dropped. */
export const BASE_URL_KIND = textKind(
  'URL',
  'an http or https URL such as https://relay.example.org',
  (text) => {
    if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
    const url = new URL(text)
    const hasMore = url.username !== '' || url.password !== '' || url.search + url.hash !== ''
    return hasMore ? undefined : url.href.replace(/\/+$/, '')
  },
)

/** How many characters a new password may have. */
const PASSWORD_LENGTH = { min: 12, max: 200 } as const
/** A shorter option that an earlier version accepted must not keep the relay from starting. */
const PASSWORD_OPTION_MIN = 8

export const PASSWORD_KIND = textKind(
  'PASSWORD',
  `a password of ${PASSWORD_LENGTH.min} to ${PASSWORD_LENGTH.max} characters`,
  (text) => (hasLength(text, PASSWORD_OPTION_MIN) ? text : undefined),
)

/** True if a new password may have this length. */
export function isPasswordLength(password: string): boolean {
  return hasLength(password, PASSWORD_LENGTH.min)
}

function hasLength(password: string, min: number): boolean {
  const length = Array.from(password).length
  return length >= min && length <= PASSWORD_LENGTH.max
}

export const PHONE_NUMBER_KIND = textKind('NUMBER', 'a phone number such as +12025550100', (text) =>
  /^\+[1-9][0-9]{6,14}$/.test(text) ? text : undefined,
)

const ADDRESS_RANGE =
  /^(?:[0-9]{1,3}(?:\.[0-9]{1,3}){3}|[0-9a-f:.]*:[0-9a-f:.]*)(?:\/[0-9]{1,3})?$/i

export const ADDRESS_RANGE_KIND = textKind(
  'ADDRESS',
  'an IP address or a range such as 10.0.0.0/8',
  (text) => (ADDRESS_RANGE.test(text) ? text : undefined),
)

export function parseDuration(text: string): number | undefined {
  if (text === '0') return 0
  const match = /^([0-9]{1,9})(ms|s|m|h|d)$/.exec(text)
  if (match === null) return undefined
  const unit = match[2] as keyof typeof UNITS_MS // The pattern allows no other.
  return Number(match[1]) * UNITS_MS[unit]
}

/** Prints a duration in the largest unit that divides it: 90,000 is `90s`. */
function printDuration(ms: number): string {
  if (ms === 0) return '0'
  const units = Object.entries(UNITS_MS).toReversed()
  const [name, size] = units.find(([, unitMs]) => ms % unitMs === 0) ?? ['ms', 1]
  return `${ms / size}${name}`
}
