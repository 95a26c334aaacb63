// <QrCode text="sms:+12025550101?&body=…" label="Opens a message to +12025550101" />: drawn black on
// white in either theme, because cameras want it so.

import { useMemo } from 'preact/hooks'
import { encode } from 'uqr'

type Props = {
  readonly text: string
  readonly label: string
}

/** The quiet zone around the code, in modules; scanners want four. */
const BORDER = 4

export function QrCode({ text, label }: Props) {
  const { size, path } = useMemo(() => drawn(text), [text])
  return (
    <svg class="qr-code" role="img" aria-label={label} viewBox={`0 0 ${size} ${size}`}>
      <path d={path} />
    </svg>
  )
}

/** One horizontal stroke for each run of dark modules. */
function drawn(text: string): { readonly size: number; readonly path: string } {
  const { size, data } = encode(text, { ecc: 'M', border: BORDER })
  const strokes = data.flatMap((row, y) =>
    [
      ...row
        .map((isDark) => (isDark ? '1' : '0'))
        .join('')
        .matchAll(/1+/g),
    ].map((run) => `M${run.index} ${y + 0.5}h${run[0].length}`),
  )
  return { size, path: strokes.join('') }
}
