// The machine of a line, and moving the line to another one.

import { useSignal } from '@preact/signals'

import type { Box } from '../../api/boxes.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ActionDialog, DialogButton } from '../components/dialog.tsx'
import { SelectField } from '../components/form.tsx'
import { Card } from '../components/page.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { numberWords } from '../numbers.ts'
import { useBoxes } from '../sources.ts'

type Props = { readonly line: PhoneLine }

/** Shows nothing if the relay has no other machine. */
export function LinePlace({ line }: Props) {
  const boxes = useBoxes().value?.data ?? []
  if (boxes.length === 0 && line.box === undefined) return null
  return (
    <Card title="Machine">
      <p>
        <PersonText>{line.box?.name ?? "The relay's own machine"}</PersonText>
      </p>
      {line.moves_to === undefined ? (
        <div class="actions">
          <DialogButton dialog={(onClose) => <MoveLine {...{ line, boxes, onClose }} />}>
            Move line…
          </DialogButton>
        </div>
      ) : (
        <Moving line={line} />
      )}
    </Card>
  )
}

function useMove(line: PhoneLine, onDone: () => void) {
  const { api } = useDashboard()
  return useAction(
    (to: string | null) => api.call('movePhoneLine', { params: { id: line.id }, body: { to } }),
    onDone,
  )
}

function Moving({ line }: Props) {
  const { notices } = useDashboard()
  const { isBusy, failure, start } = useMove(line, () =>
    notices.done('The line stays where it is.'),
  )
  const place = line.moves_to?.name ?? "the relay's own machine"
  return (
    <>
      <Callout
        tone="wait"
        role="status"
        title={`This line is moving to ${place}`}
        actions={
          <Button isBusy={isBusy} onClick={() => start(null)}>
            Cancel the move
          </Button>
        }
      >
        Sign in on {place} with {numberWords(line.phone_number)}. The line continues there by itself
        as soon as the number is seen.
      </Callout>
      <FailureNote failure={failure} />
    </>
  )
}

type MoveProps = Props & { readonly boxes: readonly Box[]; readonly onClose: () => void }

function MoveLine({ line, boxes, onClose }: MoveProps) {
  const places = [
    ...(line.box === undefined ? [] : [{ value: 'here', text: "The relay's own machine" }]),
    ...boxes
      .filter(({ id, status }) => id !== line.box?.id && status !== 'invited')
      .map(({ id, name }) => ({ value: id, text: name })),
  ]
  const to = useSignal(places[0]?.value ?? '')
  const move = useMove(line, onClose)
  return (
    <ActionDialog
      title="Move this line"
      confirm="Start the move"
      action={{ ...move, start: () => move.start(to.value) }}
      isReady={to.value !== ''}
      onClose={onClose}
    >
      <p>
        The line stops sending and receiving here. Sign in with its number on the other machine, and
        it continues there with its conversations. Messages wait meanwhile, for up to 24 hours.
      </p>
      <SelectField label="Move to" bind={to} options={places} />
    </ActionDialog>
  )
}
