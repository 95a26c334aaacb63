// People who want no more messages: their list, and the warning in a thread.

import { useSignal, type Signal } from '@preact/signals'

import type { OptOut } from '../../api/contacts.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { fieldError } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ActionDialog, ConfirmButton } from '../components/dialog.tsx'
import { TextField } from '../components/form.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard, useRead } from '../dashboard.ts'
import { numberWords, typedHandle } from '../numbers.ts'
import type { Draft } from '../outbox.ts'
import { useLines } from '../sources.ts'
import { lineName } from '../words/line-states.ts'
import { OPT_OUTS } from '../words/opt-outs.ts'

/** All of them, each with a button that ends it, and a field to add another. */
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
      changed(OPT_OUTS.added)
    },
  )
  return (
    <ActionDialog
      title={OPT_OUTS.title}
      confirm={OPT_OUTS.add}
      action={adding}
      but={['handle']}
      isReady={typed.value.trim() !== ''}
      onClose={onClose}
    >
      <p class="quiet">{OPT_OUTS.lead}</p>
      <TextField
        label={OPT_OUTS.handle}
        isFirst
        bind={typed}
        error={fieldError(adding.failure, 'handle')}
      />
      {now.state === 'failed' && <FailureNote failure={now.failure} onRetry={refresh} />}
      {value?.data.length === 0 && <p class="quiet">{OPT_OUTS.none}</p>}
      <ul class="rows people" aria-label={OPT_OUTS.list}>
        {value?.data.map((optOut) => (
          <OptOutRow
            key={`${optOut.handle} ${optOut.phone_line_id}`}
            {...{ optOut, lines }}
            onEnded={() => changed(OPT_OUTS.ended)}
          />
        ))}
      </ul>
      {value?.has_more === true && <p class="small quiet">{OPT_OUTS.more}</p>}
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
        <span class="one-line">
          <PersonText>{numberWords(handle)}</PersonText>
        </span>
        <span class="small quiet">
          {keyword ?? OPT_OUTS.byHand} · <Ago time={created_at} />
          {line && ` · ${OPT_OUTS.onLine(lineName(line))}`}
        </span>
      </span>
      <ConfirmButton
        text={OPT_OUTS.end}
        title={OPT_OUTS.endThis}
        confirm={OPT_OUTS.confirm}
        look="danger"
        call={() => api.call('deleteOptOut', { params: { handle }, query: { phone_line_id } })}
        onDone={onEnded}
      >
        {OPT_OUTS.consequence}
      </ConfirmButton>
    </li>
  )
}

/** Headers by which the relay knows that a person at the page was warned. */
const CONFIRMED: Draft['headers'] = { 'x-hookline-confirmed': 'recipient_opted_out' }

/** Stands above the composer; what is sent after its button was pressed goes to the person all the same. */
export function OptOutBar({ confirmed }: { readonly confirmed: Signal<Draft['headers']> }) {
  const isConfirmed = confirmed.value !== undefined
  return (
    <Callout
      tone="warn"
      role="status"
      actions={
        !isConfirmed && (
          <Button onClick={() => (confirmed.value = CONFIRMED)}>{OPT_OUTS.writeAnyway}</Button>
        )
      }
    >
      {isConfirmed ? OPT_OUTS.confirmed : OPT_OUTS.warning}
    </Callout>
  )
}
