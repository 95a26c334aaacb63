// A device was exchanged, or has another number now: only the owner knows whether it is the same line.

import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { Dialog } from '../components/dialog.tsx'
import { PersonText } from '../components/person-text.tsx'
import { useDashboard } from '../dashboard.ts'
import { lineName } from '../line-words.ts'
import type { Failure } from '../request.ts'
import type { PhoneLine } from '../resources.ts'

type Props = { readonly line: PhoneLine; readonly lines: readonly PhoneLine[] }

/** One that was there once and is attached no more, and one that took its place. */
type Pair = { readonly vanished: PhoneLine; readonly present: PhoneLine }

export function AdoptLine({ line, lines }: Props) {
  if (line.status_reason === 'number_changed') return <AcceptNumber line={line} />
  const pairs = pairsOf(line, lines)
  if (pairs.length === 0) return null
  return (
    <div class="stack stack-tight">
      {pairs.map((pair) => (
        <TakeOver key={`${pair.vanished.id} ${pair.present.id}`} {...pair} />
      ))}
    </div>
  )
}

function AcceptNumber({ line }: { readonly line: PhoneLine }) {
  const { failure, isBusy, adopt } = useAdopt()
  return (
    <>
      <Callout
        tone="warn"
        title="The device has another number now"
        actions={
          <Button isBusy={isBusy.value} onClick={() => void adopt(line.id, line.id)}>
            It is the same line
          </Button>
        }
      >
        <p>
          Its conversations go on with the new number. If this is another phone, put the old one
          back instead.
        </p>
      </Callout>
      {failure.value !== null && <FailureNote failure={failure.value} />}
    </>
  )
}

function TakeOver({ vanished, present }: Pair) {
  const { failure, isBusy, adopt } = useAdopt()
  const isAsking = useSignal(false)
  const names = [vanished, present].map((line) => (
    <PersonText key={line.id}>{lineName(line)}</PersonText>
  ))
  const [old, fresh] = names
  return (
    <>
      <Callout
        tone="plain"
        title={
          <>
            Is {fresh} in the place of {old}?
          </>
        }
        actions={<Button onClick={() => (isAsking.value = true)}>Make it one line</Button>}
      >
        <p>The device of {old} is missing. Another one that was found can take its line over.</p>
      </Callout>
      {isAsking.value && (
        <Dialog
          title="Make it one line?"
          onClose={() => (isAsking.value = false)}
          actions={
            <Button
              look="danger"
              isBusy={isBusy.value}
              onClick={() => void adopt(present.id, vanished.id)}
            >
              Make it one line
            </Button>
          }
        >
          <p>
            {old} goes on, with its name, settings and conversations, on the device of {fresh},
            which is no line of its own any more. This cannot be undone.
          </p>
          {failure.value !== null && <FailureNote failure={failure.value} />}
        </Dialog>
      )}
    </>
  )
}

function useAdopt() {
  const { api, notices, router } = useDashboard()
  const failure = useSignal<Failure | null>(null)
  const isBusy = useSignal(false)
  async function adopt(id: string, from: string) {
    isBusy.value = true
    const answer = await api.post<PhoneLine>(`phone-lines/${id}/adopt`, { from })
    isBusy.value = false
    failure.value = answer.ok ? null : answer.failure
    if (!answer.ok) return
    notices.done('The line goes on with this device.')
    router.go(href('lines', [answer.value.id]))
  }
  return { failure, isBusy, adopt }
}

/** The takeovers that `line` could be part of, as the relay allows them. */
function pairsOf(line: PhoneLine, lines: readonly PhoneLine[]): readonly Pair[] {
  // A simulated line is deleted and asked for again instead.
  if (line.driver === 'simulated') return []
  const others = lines.filter(({ id, driver }) => id !== line.id && driver === line.driver)
  if (isVanished(line)) {
    return others
      .filter((other) => !isVanished(other))
      .map((present) => ({ vanished: line, present }))
  }
  return others.filter(isVanished).map((vanished) => ({ vanished, present: line }))
}

function isVanished({ status_reason }: PhoneLine): boolean {
  return status_reason === 'device_absent'
}
