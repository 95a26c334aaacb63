// Opt-outs: the list, and the warning in a thread.

import { useSignal, type Signal } from '@preact/signals'

import type { OptOut } from '../../api/contacts.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { fieldError } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ActionDialog, ConfirmButton } from '../components/dialog.tsx'
import { TextField } from '../components/form.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useDashboard, useRead, useAction } from '../dashboard.ts'
import { numberWords, typedHandle } from '../numbers.ts'
import { OPTED_OUT, type Draft } from '../outbox.ts'
import { useLines } from '../sources.ts'
import { lineName } from '../words/line-states.ts'

export function OptOutsDialog({ onClose }: { readonly onClose: () => void }) {
  const { api, notices } = useDashboard()
  const lines = useLines().value?.data ?? []
  const { now, value, refresh } = useRead('listOptOuts', { query: { limit: 200 } }, 'contact')
  const typed = useSignal('')
  const changed = (words: string) => {
    notices.done(words)
    refresh()
  }
  const adding = useAction(
    () => api.call('putOptOut', { params: { handle: typedHandle(typed.value, lines) } }),
    () => {
      typed.value = ''
      changed('Opt-out added.')
    },
  )
  return (
    <ActionDialog
      title="Opt-outs"
      confirm="Add"
      action={adding}
      but={['handle']}
      isReady={typed.value.trim() !== ''}
      onClose={onClose}
    >
      <p class="quiet">
        People who texted STOP or a similar word, and those you add. Whether messages to them are
        blocked is up to Settings, Messages.
      </p>
      <TextField
        label="Number or email"
        isFirst
        bind={typed}
        error={fieldError(adding.failure, 'handle')}
      />
      {now.state === 'failed' && <FailureNote failure={now.failure} onRetry={refresh} />}
      {value?.data.length === 0 && <p class="quiet">No opt-outs yet.</p>}
      <ul aria-label="Opt-outs">
        {value?.data.map((optOut) => (
          <OptOutRow
            key={`${optOut.handle} ${optOut.phone_line_id}`}
            {...{ optOut, lines }}
            onEnded={() => changed('Opt-out removed.')}
          />
        ))}
      </ul>
      {value?.has_more === true && (
        <p class="small quiet">Only the latest 200 are shown. hookline opt-outs list shows more.</p>
      )}
    </ActionDialog>
  )
}

type RowProps = {
  readonly optOut: OptOut
  readonly lines: readonly PhoneLine[]
  readonly onEnded: () => void
}

function OptOutRow({ optOut, lines, onEnded }: RowProps) {
  const { api } = useDashboard()
  const { handle, phone_line_id, keyword, created_at } = optOut
  const line = lines.find(({ id }) => id === phone_line_id)
  return (
    <li class="person-row">
      <span class="grow">
        <PersonText in="one-line">{numberWords(handle)}</PersonText>
        <span class="small quiet">
          {keyword ?? 'Added by hand'} · <Ago time={created_at} />
          {line && ` · only ${lineName(line)}`}
        </span>
      </span>
      <ConfirmButton
        text="Remove…"
        title="Remove this opt-out?"
        confirm="Remove"
        call={() => api.call('deleteOptOut', { params: { handle }, query: { phone_line_id } })}
        onDone={onEnded}
      >
        Messages can be sent to them again. Only do this if they asked for it.
      </ConfirmButton>
    </li>
  )
}

/** Lets the relay know that the person at the page was warned. */
const CONFIRMED: Draft['headers'] = { 'x-hookline-confirmed': OPTED_OUT }

type BarProps = {
  readonly confirmed: Signal<Draft['headers']>
  /** True if a message was refused because of the opt-out. */
  readonly isRefused: boolean
}

/** Above the composer. After its button is pressed, the relay sends despite the opt-out. */
export function OptOutBar({ confirmed, isRefused }: BarProps) {
  const isConfirmed = confirmed.value !== undefined
  const why = isRefused ? 'Not sent: they' : 'They'
  return (
    <Callout
      tone="warn"
      role="status"
      actions={
        !isConfirmed && <Button onClick={() => (confirmed.value = CONFIRMED)}>Write anyway</Button>
      }
    >
      {isConfirmed
        ? 'You chose to write anyway. Your messages here will be sent.'
        : `${why} asked for no more messages. Write only if they expect your reply.`}
    </Callout>
  )
}
