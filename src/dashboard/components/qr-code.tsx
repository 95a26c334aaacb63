// <QrCode text="sms:+12025550101?&body=…" label="Opens a text to +12025550101" />: the relay draws it,
// for links that open a text only.

import { withQuery } from '../address.ts'

type Props = {
  readonly text: string
  readonly label: string
}

export function QrCode({ text, label }: Props) {
  return <img class="qr-code" alt={label} src={withQuery('/dashboard/qr', { text })} />
}
