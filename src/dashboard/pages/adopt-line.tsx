// A line whose device or number was replaced, and that goes on if the owner says so.

import type { VNode } from 'preact'

import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { ConfirmButton } from '../components/dialog.tsx'
import { PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { useKinds } from '../sources.ts'
import { isSimulated, lineName } from '../words/line-states.ts'
import { LINES as WORDS } from '../words/lines.ts'

type Props = { readonly line: PhoneLine }
/** After a device or its number was replaced, only the owner knows if the line is still the same. */
export function AdoptLine({ line, lines }: Props & { readonly lines: readonly PhoneLine[] }) {
  const kinds = useKinds()
  if (line.status_reason === 'number_changed') return <AcceptNumber line={line} />
  // A simulated line is deleted and added again instead.
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
        title={WORDS.newNumber}
        actions={
          <Button isBusy={isBusy} onClick={start}>
            {WORDS.keepLine}
          </Button>
        }
      >
        {WORDS.newNumberHint}
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
      title={<>{WORDS.replaced.map((part) => partOf({ before, now }, part))}</>}
      actions={
        <ConfirmButton
          text={WORDS.mergeAsk}
          title={WORDS.mergeTitle}
          confirm={WORDS.merge}
          look="danger"
          call={call}
          onDone={onDone}
        >
          {WORDS.mergeText.map((part) => partOf({ before, now }, part))}
        </ConfirmButton>
      }
    >
      {WORDS.missing.map((part) => partOf({ before, now }, part))}
    </Callout>
  )
}

type Names = { readonly before: VNode; readonly now: VNode }

/** A part of a sentence: text, or the name of one of the two lines. */
function partOf(names: Names, part: string) {
  return part === 'before' || part === 'now' ? names[part] : part
}

/** The call that continues the line `from` on the device of `id`, and what follows it. */
function useAdopt(id: string, from: string) {
  const { api, notices, router } = useDashboard()
  const call = () => api.call('adoptPhoneLine', { params: { id }, body: { from } })
  const onDone = (line: PhoneLine) => {
    notices.done(WORDS.adopted)
    router.go(href('lines', [line.id]))
  }
  return [call, onDone] as const
}

/** The pairs that `line` could be part of, as the relay allows them. */
function pairsOf(line: PhoneLine, lines: readonly PhoneLine[]): readonly Pair[] {
  const others = lines.filter(({ id, driver }) => id !== line.id && driver === line.driver)
  return isMissing(line)
    ? others.filter((other) => !isMissing(other)).map((present) => ({ missing: line, present }))
    : others.filter(isMissing).map((missing) => ({ missing, present: line }))
}

function isMissing({ status_reason }: PhoneLine): boolean {
  return status_reason === 'device_absent' || status_reason === 'box_removed'
}
