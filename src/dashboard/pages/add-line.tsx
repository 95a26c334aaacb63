// The ways to get one more line, each with its guide.

import { href } from '../address.ts'
import { CodeBlock } from '../components/code-block.tsx'
import { Icon } from '../components/icon.tsx'
import { Dialog, DialogButton } from '../components/modal.tsx'
import { useKinds } from '../sources.ts'

export function AddLineButton() {
  const dialog = (onClose: () => void) => (
    <Dialog title="Add a line" onClose={onClose}>
      <LineWays />
    </Dialog>
  )
  return (
    <DialogButton variant="main" icon="plus" dialog={dialog}>
      Add a line
    </DialogButton>
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
