// <Meter label="New contacts today" value={12} max={50} />: how much of something is used, in figures
// and as a bar. It turns amber from four fifths on and red when full.

import { useId } from 'preact/hooks'

import { grouped } from '../../domain/number-words.ts'

type Props = {
  readonly label: string
  readonly value: number
  readonly max: number
}

export function Meter({ label, value, max }: Props) {
  const id = useId()
  const isFull = value >= max
  return (
    <div class="meter">
      <div class="meter-words" id={id}>
        <span>{label}</span>
        <span class="figures">
          {grouped(value)} of {grouped(max)}
        </span>
      </div>
      <meter
        aria-labelledby={id}
        min={0}
        // A limit of 0 is full at once.
        max={max === 0 ? 1 : max}
        value={isFull ? Math.max(max, 1) : value}
        low={max * 0.8}
        high={Math.max(max - 0.5, 0)}
        optimum={0}
      />
    </div>
  )
}
