// How options of a start are described. The core's options are in config.ts, a kind of line's in its folder.
// Settings, which can be changed while the relay runs, are in setting.ts.

import type { ValueKind } from './value-kind.ts'

export type Option<T> = {
  /** The name in the flag `--send-wait` and the variable `HOOKLINE_SEND_WAIT` is `send-wait`. */
  readonly name: string
  readonly kind: ValueKind<T>
  /** Null if there is none, or if it depends on the system. */
  readonly default: T | null
  readonly sentence: string
  /** True if it is hidden: no flag sets it, because every user sees the flags of a process. */
  readonly isSecret: boolean
  /**
   * True if it names a program, a host, a port, a file or a password, and so gives its author influence over this
   * machine: a restore takes it over only on request.
   */
  readonly needsTrust: boolean
  /** The only platform on which it matters, such as `darwin`; null if it matters on all. */
  readonly platform: string | null
  /** The environment variable, if other programs have named it already. */
  readonly variable: string | null
}

/** Options by their keys in the configuration, in the order of the help. */
export type OptionTable = Readonly<Record<string, Option<unknown>>>

export type OptionValues<Table extends OptionTable> = {
  readonly [Key in keyof Table]: Table[Key] extends Option<infer T> ? T : never
}

/** `--simulated-lines` */
export function flagOf({ name }: Pick<Option<unknown>, 'name'>): string {
  return `--${name}`
}

/** `HOOKLINE_SIMULATED_LINES` */
export function environmentOf({
  name,
  variable,
}: Pick<Option<unknown>, 'name' | 'variable'>): string {
  return variable ?? `HOOKLINE_${name.replaceAll('-', '_').toUpperCase()}`
}

/**
 * One option of a start. `isHarmless`: a backup may set it without a person's consent. `variable` names the
 * environment variable if it isn't made of `name`.
 */
export function option<T>(
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
  return { name, kind, ...rest, isSecret, variable, needsTrust: !isHarmless, platform: null }
}

/** Marks options that matter on one platform only. */
export function onlyOn<Table extends OptionTable>(platform: string, table: Table): Table {
  const rows = Object.entries(table).map(([key, row]) => [key, { ...row, platform }])
  return Object.fromEntries(rows) as Table // Each row keeps its type.
}
