// The ways to get one more line, each with its guide.

import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { Dialog } from '../components/dialog.tsx'
import { Icon } from '../components/icon.tsx'
import { useKinds } from '../sources.ts'
import { COMMON } from '../words/common.ts'

export function AddLineButton() {
  const isOpen = useSignal(false)
  return (
    <>
      <Button variant="main" icon="plus" onClick={() => (isOpen.value = true)}>
        Add a line
      </Button>
      {isOpen.value && <AddLine onClose={() => (isOpen.value = false)} />}
    </>
  )
}

function AddLine({ onClose }: { readonly onClose: () => void }) {
  return (
    <Dialog
      title="Add a line"
      onClose={onClose}
      actions={<Button onClick={onClose}>{COMMON.done}</Button>}
    >
      <LineWays />
    </Dialog>
  )
}

export function LineWays() {
  return (
    <ul class="ways">
      {useKinds().map(({ name, title, start: { words, guide }, trial_command: command }) => (
        <li key={name}>
          {guide === null ? (
            <>
              <p class="way-title">{title}</p>
              <p class="small quiet">{words}</p>
            </>
          ) : (
            <Way {...{ title, words }} href={`/guide/${guide}`} />
          )}
          {command !== null && <CodeBlock what="Command" text={command} />}
        </li>
      ))}
      <li>
        <Way
          title="On another machine"
          words="A box is a second machine that lends its lines to this relay."
          href={href('boxes')}
        />
      </li>
    </ul>
  )
}

type WayProps = { readonly title: string; readonly words: string; readonly href: string }

function Way({ title, words, href: address }: WayProps) {
  return (
    <a class="way" href={address}>
      <span class="grow">
        <span class="way-title">{title}</span>
        <span class="small quiet">{words}</span>
      </span>
      <Icon name="forward" />
    </a>
  )
}
