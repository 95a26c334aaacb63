import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/copy-button.tsx'
import { Dialog } from '../components/dialog.tsx'

type Props = {
  readonly secret: string
  /** What stands before it, where there is more to know. */
  readonly lead: string
  readonly onStored: () => void
}

/** A signing secret, this once: whoever draws it lets go of it when it is stored. */
export function SecretShownOnce({ secret, lead, onStored }: Props) {
  return (
    <Dialog
      title="Store the signing secret now"
      canClose={false}
      onClose={onStored}
      actions={
        <Button look="main" onClick={onStored}>
          I stored it
        </Button>
      }
    >
      <p>{lead} It is shown this once.</p>
      <CodeBlock what="Secret" text={secret} />
      <p class="field-hint">
        With it your program checks that an event is from this relay, and nobody else: after
        Standard Webhooks, as the README shows under "Verifying a signature".
      </p>
    </Dialog>
  )
}
