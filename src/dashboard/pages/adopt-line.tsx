// Asks the owner whether a line whose device or number was replaced is still the same line.

import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ConfirmButton } from '../components/dialog.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import { useKinds } from '../sources.ts'
import { isSimulated, lineName } from '../words/line-states.ts'

type Props = { readonly line: PhoneLine }
export function AdoptLine({ line, lines }: Props & { readonly lines: readonly PhoneLine[] }) {
  const kinds = useKinds()
  if (line.status_reason === 'number_changed') return <AcceptNumber line={line} />
  // Simulated lines are deleted and added again instead.
  const pairs = isSimulated(line, kinds) ? [] : pairsOf(line, lines)
  if (pairs.length === 0) return null
  return (
    <div class="stack-tight">
      {pairs.map((pair) => (
        <TakeOver key={`${pair.missing.id} ${pair.present.id}`} {...pair} />
      ))}
    </div>
  )
}

function AcceptNumber({ line }: Props) {
  const { isBusy, failure, start } = useAction(...useAdopt(line.id, line.id))
  return (
    <>
      <Callout
        tone="warn"
        title="This device has a new number"
        actions={
          <Button isBusy={isBusy} onClick={start}>
            Keep the line
          </Button>
        }
      >
        If it's still the same line, its conversations continue with the new number. If this is
        another phone, reconnect the old one instead.
      </Callout>
      <FailureNote failure={failure} />
    </>
  )
}

/** A line whose device is missing, and a line whose device may replace it. */
type Pair = { readonly missing: PhoneLine; readonly present: PhoneLine }

function TakeOver({ missing, present }: Pair) {
  const [call, onDone] = useAdopt(present.id, missing.id)
  const before = <PersonText>{lineName(missing)}</PersonText>
  const now = <PersonText>{lineName(present)}</PersonText>
  return (
    <Callout
      tone="plain"
      title={
        <>
          Did {now} replace {before}?
        </>
      }
      actions={
        <ConfirmButton
          text="Merge lines…"
          title="Merge these lines?"
          confirm="Merge"
          call={call}
          onDone={onDone}
        >
          {before} keeps its name, settings and conversations, and continues on the device of {now}.{' '}
          {now} will no longer be a separate line. This can't be undone.
        </ConfirmButton>
      }
    >
      The device of {before} is missing. Another device can continue its line.
    </Callout>
  )
}

/** The call that continues the line `from` on the device of the line `id`, and its `onDone`. */
function useAdopt(id: string, from: string) {
  const { api, notices, router } = useDashboard()
  const call = () => api.call('adoptPhoneLine', { params: { id }, body: { from } })
  const onDone = (line: PhoneLine) => {
    notices.done('The line continues on this device.')
    router.go(href('lines', [line.id]))
  }
  return [call, onDone] as const
}

/** The pairs with `line` that the relay accepts. */
function pairsOf(line: PhoneLine, lines: readonly PhoneLine[]): readonly Pair[] {
  const others = lines.filter(({ id, driver }) => id !== line.id && driver === line.driver)
  return isMissing(line)
    ? others.filter((other) => !isMissing(other)).map((present) => ({ missing: line, present }))
    : others.filter(isMissing).map((missing) => ({ missing, present: line }))
}

function isMissing({ status_reason }: PhoneLine): boolean {
  return status_reason === 'device_absent' || status_reason === 'box_removed'
}
