// A device was exchanged, or has another number now: only the owner knows whether it is the same line.

import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ConfirmButton } from '../components/confirm-button.tsx'
import { PersonText } from '../components/person-text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { lineName } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'

type Props = { readonly line: PhoneLine; readonly lines: readonly PhoneLine[] }

/** One that was there once and is attached no more, and one that took its place. */
type Pair = { readonly vanished: PhoneLine; readonly present: PhoneLine }

export function AdoptLine({ line, lines }: Props) {
  if (line.status_reason === 'number_changed') return <AcceptNumber line={line} />
  const pairs = pairsOf(line, lines)
  if (pairs.length === 0) return null
  return (
    <div class="stack-tight">
      {pairs.map((pair) => (
        <TakeOver key={`${pair.vanished.id} ${pair.present.id}`} {...pair} />
      ))}
    </div>
  )
}

function AcceptNumber({ line }: { readonly line: PhoneLine }) {
  const { isBusy, failure, start } = useAction(...useAdopt(line.id, line.id))
  return (
    <>
      <Callout
        tone="warn"
        title="The device has another number now"
        actions={
          <Button isBusy={isBusy} onClick={start}>
            It is the same line
          </Button>
        }
      >
        Its conversations go on with the new number. If this is another phone, put the old one back
        instead.
      </Callout>
      <FailureNote failure={failure} />
    </>
  )
}

function TakeOver({ vanished, present }: Pair) {
  const [call, onDone] = useAdopt(present.id, vanished.id)
  const old = <PersonText>{lineName(vanished)}</PersonText>
  const fresh = <PersonText>{lineName(present)}</PersonText>
  return (
    <Callout
      tone="plain"
      title={
        <>
          Is {fresh} in the place of {old}?
        </>
      }
      actions={
        <ConfirmButton
          text="Make it one line…"
          title="Make it one line?"
          confirm="Make it one line"
          look="danger"
          call={call}
          onDone={onDone}
        >
          {old} goes on, with its name, settings and conversations, on the device of {fresh}, which
          is no line of its own any more. This cannot be undone.
        </ConfirmButton>
      }
    >
      The device of {old} is missing. Another one that was found can take its line over.
    </Callout>
  )
}

/** Has the device of `id` take over the line `from`, and says what comes then. */
function useAdopt(id: string, from: string) {
  const { api, notices, router } = useDashboard()
  const call = () => api.post<PhoneLine>(`phone-lines/${id}/adopt`, { from })
  const onDone = (line: PhoneLine) => {
    notices.done('The line goes on with this device.')
    router.go(href('lines', [line.id]))
  }
  return [call, onDone] as const
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
