// <ShownOnce title="Store the secret now" onStored={…}>…</ShownOnce>: a secret that is never shown again,
// in a dialog that only its own button closes. Whoever draws it lets go of the secret then.

import type { ComponentChildren } from 'preact'

import { Button } from './button.tsx'
import { Dialog } from './dialog.tsx'

type Props = {
  readonly title: string
  readonly onStored: () => void
  readonly children: ComponentChildren
}

export function ShownOnce({ title, onStored, children }: Props) {
  return (
    <Dialog
      title={title}
      canClose={false}
      onClose={onStored}
      actions={
        <Button look="main" onClick={onStored}>
          I stored it
        </Button>
      }
    >
      {children}
    </Dialog>
  )
}
