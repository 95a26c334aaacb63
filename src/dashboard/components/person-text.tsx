// Words that a person or a device gave: names, handles, labels, messages. They stay text, keep their
// direction to themselves, and break anywhere.
//
//   <PersonText>{line.label}</PersonText>          in a line of ours
//   <LongText text={message.text} />               as a block; beyond 700 characters behind "Show all"

import { useSignal } from '@preact/signals'

import { grouped } from '../../domain/number-words.ts'

export function PersonText({ children }: { readonly children: string }) {
  return (
    <bdi class="person-text" dir="auto">
      {children}
    </bdi>
  )
}

const SHOWN_MAX = 700
const SHOWN_LINES_MAX = 14

export function LongText({ text }: { readonly text: string }) {
  const isOpen = useSignal(false)
  const short = shortened(text)
  if (short === text) return <PersonText>{text}</PersonText>
  return (
    <>
      <PersonText>{isOpen.value ? text : `${short}…`}</PersonText>
      <button
        type="button"
        class="text-button"
        aria-expanded={isOpen.value}
        onClick={() => (isOpen.value = !isOpen.value)}
      >
        {isOpen.value ? 'Show less' : `Show all ${grouped(text.length)} characters`}
      </button>
    </>
  )
}

function shortened(text: string): string {
  const lines = text.split('\n', SHOWN_LINES_MAX + 1)
  const fewLines = lines.length > SHOWN_LINES_MAX ? lines.slice(0, -1).join('\n') : text
  if (fewLines.length <= SHOWN_MAX) return fewLines
  // A cut through a surrogate pair would leave half a character.
  return fewLines.slice(0, SHOWN_MAX).replace(/[\uD800-\uDBFF]$/, '')
}
