import { CodeBlock } from '../components/code-block.tsx'
import type { CreatedKey } from '../resources.ts'
import { useLines } from '../sources.ts'
import { firstCall } from './keys-words.ts'

/** Key, secret, and a first call with both. Whoever draws it lets go of `created` afterwards. */
export function KeyShownOnce({ created }: { readonly created: CreatedKey }) {
  const lines = useLines().value?.data ?? []
  const { curl, recipient } = firstCall(created, lines, location.origin)
  return (
    <>
      <p>
        The secret is shown this once. Give both to whoever writes the program, and never put them
        where strangers read.
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
    <div class="stack-tight">
      <h3>{title}</h3>
      <CodeBlock what={what} text={text} />
    </div>
  )
}
