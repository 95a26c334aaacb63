import { useSignal } from '@preact/signals'

import { putOnClipboard } from '../clipboard.ts'
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
