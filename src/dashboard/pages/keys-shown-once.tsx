import { CodeBlock } from '../components/copy-button.tsx'
import { useDashboard, useLive } from '../dashboard.ts'
import { linesSource } from '../sources.ts'
import type { CreatedKey } from './keys-resources.ts'
import { firstCall } from './keys-words.ts'

/** Key, secret, and a first call with both. Whoever draws it lets go of `created` afterwards. */
export function KeyShownOnce({ created }: { readonly created: CreatedKey }) {
  const { api } = useDashboard()
  const lines = useLive(linesSource(api)).now
  const known = lines.state === 'ready' ? lines.value.data : []
  const { curl, recipient } = firstCall(created, known, location.origin)
  return (
    <>
      <p>
        The secret is shown this once: the relay keeps only its fingerprint. Give both to whoever
        writes the program, and never put them where strangers read.
      </p>
      <Part title="Key" what="Key" text={created.key} />
      <Part title="Secret" what="Secret" text={created.secret} />
      <Part title="A first message" what="Command" text={curl} />
      <p class="field-hint">{recipient}</p>
    </>
  )
}

type PartProps = { readonly title: string; readonly what: string; readonly text: string }

function Part({ title, what, text }: PartProps) {
  return (
    <div class="stack stack-tight">
      <h3>{title}</h3>
      <CodeBlock what={what} text={text} />
    </div>
  )
}
