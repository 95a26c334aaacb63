// <LineSelect lines={lines} value={lineId} onChange={…} />: which line a message takes; the first that
// is ready (null), or one of them.

import { lineState } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { SelectField } from './field.tsx'

type Props = {
  readonly lines: readonly PhoneLine[]
  readonly value: string | null
  readonly onChange: (lineId: string | null) => void
}

export function LineSelect({ lines, value, onChange }: Props) {
  const options = lines.map((line) => ({ value: line.id, text: told(line) }))
  return (
    <SelectField
      label="Line"
      value={value ?? ''}
      options={[{ value: '', text: 'Auto: the first that is ready' }, ...options]}
      onChange={(id) => onChange(id === '' ? null : id)}
    />
  )
}

function told(line: PhoneLine): string {
  const { text } = lineState(line)
  const name = line.label === null ? '' : `${line.label}, `
  return `${name}${line.phone_number}${text === 'Online' ? '' : ` (${text.toLowerCase()})`}`
}
