import { CheckList } from '../components/checks.tsx'
import { useLines, useSites } from '../sources.ts'
import { lineName } from '../words/line-states.ts'

type Props = {
  readonly kind: 'line' | 'site'
  /** Ends the sentence "Choose none for …". */
  readonly all: string
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** The lines or sites that something is limited to. Shows nothing if there is no site, or only one line. */
export function LimitChoice({ kind, all, ...props }: Props) {
  const lines = useLines().value?.data ?? []
  const named = useSites().map(({ id, name }) => [id, name] as const)
  const names = new Map(kind === 'site' ? named : lines.map((line) => [line.id, lineName(line)]))
  // A chosen line may have been deleted.
  const ids = [...new Set([...names.keys(), ...props.chosen])]
  if (ids.length < (kind === 'site' ? 1 : 2)) return null
  const options = ids.map((value) => ({ value, text: names.get(value) ?? value }))
  const legend = kind === 'site' ? 'Sites' : 'Lines'
  return <CheckList {...props} {...{ legend, options }} hint={`Choose none for ${all}.`} />
}

/** As the API names them; empty for all. */
export type Limit = Readonly<Record<'phone_line_ids' | 'site_ids', readonly string[]>>

type BothProps = {
  /** Precedes "all lines" in a sentence. */
  readonly of: string
  readonly limit: Limit
  readonly onChange: (change: Partial<Limit>) => void
}

export function LimitChoices({ of, limit, onChange }: BothProps) {
  const part = (kind: Props['kind'], field: keyof Limit) => (
    <LimitChoice
      kind={kind}
      all={`${of}all ${kind}s`}
      chosen={limit[field]}
      onChange={(ids) => onChange({ [field]: ids })}
    />
  )
  return [part('line', 'phone_line_ids'), part('site', 'site_ids')]
}

export function limitIn({ phone_line_ids: lines, site_ids: sites }: Limit) {
  const orNull = (ids: readonly string[]) => (ids.length === 0 ? null : [...ids])
  return { phone_line_ids: orNull(lines), site_ids: orNull(sites) }
}
