// <QrCode text="sms:+12025550101?&body=…" label="Opens a text to +12025550101" />: the relay draws it,
// for links that open a text only.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import { withQuery } from '../address.ts'
import { pageHeaders } from '../request.ts'

type Props = {
  readonly text: string
  readonly label: string
}

export function QrCode({ text, label }: Props) {
  const drawn = useSignal<string | null>(null)
  useEffect(() => {
    const end = new AbortController()
    const show = async () => {
      const svg = await draw(text, end.signal)
      if (!end.signal.aborted) drawn.value = svg
    }
    void show()
    return () => end.abort()
  }, [text])
  const source = drawn.value === null ? undefined : dataAddress(drawn.value)
  return <img class="qr-code" alt={label} src={source} />
}

/** Null where the relay draws none: its words stand beside it. */
async function draw(text: string, signal: AbortSignal): Promise<string | null> {
  try {
    const path = withQuery('/dashboard/qr', { text })
    const response = await fetch(path, { headers: pageHeaders(), signal })
    return response.ok ? await response.text() : null
  } catch {
    return null
  }
}

function dataAddress(svg: string): string {
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}
