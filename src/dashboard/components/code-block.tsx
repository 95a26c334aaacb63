import { useSignal } from '@preact/signals'

import { later } from '../clock.ts'
import { useDashboard } from '../dashboard.ts'
import { Button } from './button.tsx'

type Props = {
  readonly text: string
  /** A noun for the text, capitalized: "Command". */
  readonly what: string
}

const SHOWN_MS = 2_000

function CopyButton({ text, what }: Props) {
  const { clock, notices } = useDashboard()
  const isCopied = useSignal(false)
  const copy = async () => {
    if (!(await putOnClipboard(text)))
      return notices.failed(`Couldn't copy the ${what.toLowerCase()}.`)
    isCopied.value = true
    notices.announce(`${what} copied.`)
    later(clock, SHOWN_MS, () => (isCopied.value = false))
  }
  return (
    <Button
      variant="quiet"
      icon={isCopied.value ? 'check' : 'copy'}
      isIconOnly
      onClick={() => void copy()}
    >
      {`Copy ${what.toLowerCase()}`}
    </Button>
  )
}

export function CodeBlock({ text, what }: Props) {
  return (
    <div class="code-block">
      <pre tabIndex={0} aria-label={what}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} what={what} />
    </div>
  )
}

/** Browsers give the clipboard only to secure pages, and plain HTTP on a home network isn't one. */
async function putOnClipboard(text: string): Promise<boolean> {
  if (window.isSecureContext) {
    return navigator.clipboard.writeText(text).then(
      () => true,
      () => false,
    )
  }
  const area = document.createElement('textarea')
  area.value = text
  area.className = 'visually-hidden'
  // An open dialog traps the focus.
  const place = document.querySelector('dialog[open]') ?? document.body
  const focused = document.activeElement
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
