// The form of a start's options: what each is called, takes, and is for. The core's are in config.ts, those of
// a kind of line in its folder. Settings that can be changed while the relay runs are in setting.ts.

import type { ValueKind } from './value-kind.ts'

export type Option<T> = {
  /** As it stands in the flag `--send-wait` and in the variable `HOOKLINE_SEND_WAIT`. */
  readonly name: string
  readonly kind: ValueKind<T>
  /** Null where there is none, or where it depends on the system. */
  readonly default: T | null
  readonly sentence: string
  /** Hidden from everyone: no flag takes it, for every user sees the flags of a process. */
  readonly isSecret: boolean
  /**
   * Names a program, a host, a port, a file elsewhere or a password, so that its author has a say over
   * this machine: a restore takes it over only on request.
   */
  readonly needsTrust: boolean
  /** The environment variable, where other programs have given it a name. */
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
  return { name, kind, ...rest, isSecret, variable, needsTrust: !isHarmless }
}
