// The lines and sites that something is limited to.

import { CheckList } from '../components/checks.tsx'
import { useLines, useSites } from '../sources.ts'
import { lineName } from '../words/line-states.ts'

type Props = {
  /** The rest of the sentence "Choose none for …". */
  readonly of: string
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}

/** Shows nothing if there is only one line. */
export function LineChoice(props: Props) {
  const lines = useLines().value?.data ?? []
  // A chosen line may have been deleted.
  const ids = new Set([...lines.map(({ id }) => id), ...props.chosen])
  if (ids.size < 2) return null
  const options = [...ids].map((value) => {
    const line = lines.find(({ id }) => id === value)
    return { value, text: line === undefined ? value : lineName(line) }
  })
  return (
    <CheckList
      {...props}
      legend="Lines"
      hint={`Choose none for ${props.of} all lines.`}
      {...{ options }}
    />
  )
}

/** Shows nothing if there is no site. */
export function SiteChoice(props: Props) {
  const sites = useSites()
  if (sites.length === 0) return null
  const options = sites.map(({ id: value, name: text }) => ({ value, text }))
  return (
    <CheckList
      {...props}
      legend="Sites"
      hint={`Choose none for ${props.of} all sites.`}
      {...{ options }}
    />
  )
}
