// <CodeBlock text="curl …" what="Command" />: a text as it stands, with a button that puts it on the
// clipboard and says so.

import { useSignal } from '@preact/signals'

import { useDashboard } from '../dashboard.ts'
import { Button } from './button.tsx'

type Props = {
  readonly text: string
  /** What it is, in a word that can begin a sentence. */
  readonly what: string
}

const SHOWN_MS = 2_000

function CopyButton({ text, what }: Props) {
  const { clock, notices } = useDashboard()
  const isCopied = useSignal(false)
  const copy = async () => {
    if (!(await putOnClipboard(text))) return notices.failed(`${what} could not be copied.`)
    isCopied.value = true
    notices.say(`${what} copied.`)
    await clock.sleep(SHOWN_MS, new AbortController().signal)
    isCopied.value = false
  }
  return (
    <Button
      look="quiet"
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

/** Browsers lend the clipboard to secure pages only, and plain http in a home network is none. */
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
  // A dialog that is open keeps the focus to itself.
  const place = document.querySelector('dialog[open]') ?? document.body
  const focused = document.activeElement
  place.append(area)
  area.select()
  const isCopied = document.execCommand('copy')
  area.remove()
  if (focused instanceof HTMLElement) focused.focus()
  return isCopied
}
