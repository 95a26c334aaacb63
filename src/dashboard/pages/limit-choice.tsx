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
