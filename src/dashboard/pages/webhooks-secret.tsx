import { CodeBlock } from '../components/code-block.tsx'
import { ShownOnce } from '../components/shown-once.tsx'

type Props = {
  readonly secret: string
  /** What stands before it, where there is more to know. */
  readonly lead: string
  readonly onStored: () => void
}

/** A signing secret, this once: whoever draws it lets go of it when it is stored. */
export function SecretShownOnce({ secret, lead, onStored }: Props) {
  return (
    <ShownOnce title="Store the signing secret now" onStored={onStored}>
      <p>{lead} It is shown this once.</p>
      <CodeBlock what="Secret" text={secret} />
      <p class="field-hint">
        With it your program checks that an event is from this relay: after Standard Webhooks, as
        the README shows under "Verifying a signature".
      </p>
    </ShownOnce>
  )
}
