import { useSignal, type Signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'

import { useDashboard } from '../dashboard.ts'
import { createOutbox } from '../outbox.ts'
import type { Failure } from '../request.ts'
import type { Message } from '../resources.ts'
import { useAction } from './use-action.ts'

export type Sending = {
  readonly text: Signal<string>
  readonly isBusy: boolean
  readonly failure: Failure | null
  readonly send: (to: string, lineId: string | null) => void
}

/** A text that is being composed, and what sends it. */
export function useSending(onAccepted: (message: Message) => void): Sending {
  const { api } = useDashboard()
  const outbox = useMemo(() => createOutbox(api), [api])
  const text = useSignal('')
  const { isBusy, failure, start } = useAction(outbox, (message) => {
    // What was typed meanwhile is the next message.
    if (text.value === message.text) text.value = ''
    onAccepted(message)
  })
  const send = (to: string, lineId: string | null) => {
    if (text.value.trim() !== '') start({ to, text: text.value, lineId })
  }
  return { text, isBusy, failure, send }
}
