// Text from people and devices, such as names and messages: always plain text, with its own direction, and breaking
// anywhere.

import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

import { useDashboard } from '../dashboard.ts'
import { absoluteTime, relativeTime } from '../time-words.ts'
import { grouped } from '../words/common.ts'

/** `in` is the class of a span around the text, which keeps the direction of the page. */
export function PersonText(props: { readonly in?: string; readonly children: ComponentChildren }) {
  const text = (
    <bdi class="person-text" dir="auto">
      {props.children}
    </bdi>
  )
  return props.in === undefined ? text : <span class={props.in}>{text}</span>
}

const SHOWN_MAX = 700
const SHOWN_LINES_MAX = 14

/** A block of text, folded if it is long. */
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
  // Cutting a surrogate pair would leave half a character.
  return fewLines.slice(0, SHOWN_MAX).replace(/[\uD800-\uDBFF]$/, '')
}

type AgoProps = {
  /** ISO 8601. */
  readonly time: string
  /** True inside a link or button, which has the focus itself. */
  readonly isInside?: boolean | undefined
}

/** "5 min ago", with the exact time on hover and focus. */
export function Ago({ time, isInside = false }: AgoProps) {
  const { clock } = useDashboard()
  const focus = isInside ? {} : { tabIndex: 0 }
  return (
    <time class="ago" dateTime={time} data-absolute={absoluteTime(time)} {...focus}>
      {relativeTime(time, clock.now.value)}
    </time>
  )
}
