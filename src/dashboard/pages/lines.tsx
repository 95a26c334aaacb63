// All lines, each with its state and the reason for it.

import { useSignal } from '@preact/signals'
import type { VNode } from 'preact'
import { useEffect } from 'preact/hooks'

import { href } from '../address.ts'
import { fieldError } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Callout, FailureNote } from '../components/callout.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { ConfirmButton, DeleteCard } from '../components/dialog.tsx'
import { Form, Switch, TextField, bindTo } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { Card, PageHead, useNewView } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { DetailView, EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard } from '../dashboard.ts'
import { isDeletable, isSimulated, lineName, lineState, trialCommand } from '../line-words.ts'
import type { PhoneLine } from '../resources.ts'
import { useAbout, useChecks, useKinds, useLineChecks, useLines } from '../sources.ts'
import { combine } from '../store.ts'
import { LINES as WORDS } from '../words/lines.ts'
import { CheckCard } from './line-checks.tsx'
import { LineSubtitle, LineTraffic, NewContacts } from './line-figures.tsx'
import { LineTest, Simulation } from './line-test.tsx'
import { LineCharts, LineSparkline } from './pictures.tsx'
import { QuietHoursCard } from './quiet-hours.tsx'

export function LinesPage() {
  const { router } = useDashboard()
  const [id = ''] = router.route.value.path
  useNewView(id)
  return id === '' ? <LineList /> : <LineView key={id} id={id} />
}

function LineList() {
  const skeleton = (
    <div class="cards">
      <Skeleton kind="card" count={2} />
    </div>
  )
  const all = combine({ lines: useLines(), about: useAbout() })
  return (
    <>
      <PageHead title={WORDS.title}>{WORDS.lead}</PageHead>
      <WhenReady of={all} skeleton={skeleton}>
        {({ lines: { data } }) =>
          data.length === 0 ? (
            <NoLines />
          ) : (
            <div class="cards">
              {data.map((line) => (
                <LineCard key={line.id} line={line} />
              ))}
            </div>
          )
        }
      </WhenReady>
    </>
  )
}

function LineCard({ line }: { readonly line: PhoneLine }) {
  const since = useLineChecks(line)?.offline_since ?? null
  return (
    <Card
      title={
        <a class="line-name" href={href('lines', [line.id])}>
          <PersonText>{lineName(line)}</PersonText>
        </a>
      }
      actions={<Badge of={lineState(line)} />}
    >
      <div class="line-about">
        <p class="small quiet">
          <LineSubtitle line={line} />
        </p>
        {line.status_hint !== null && <p class="small">{line.status_hint}</p>}
        {line.status === 'offline' && (
          <p class="small quiet">
            {WORDS.offlineSince} {since === null ? '…' : <Ago time={since} />}
          </p>
        )}
      </div>
      <NewContacts line={line} />
      <LineTraffic line={line} />
      <LineSparkline line={line} />
    </Card>
  )
}

function NoLines() {
  return (
    <Card>
      <EmptyState
        icon="lines"
        title={WORDS.none}
        action={<CodeBlock what={WORDS.command} text={trialCommand(useKinds())} />}
      >
        {WORDS.noneHint}
      </EmptyState>
    </Card>
  )
}

type Props = { readonly line: PhoneLine }

export function LineView({ id }: { readonly id: string }) {
  const lines = useLines()
  return (
    <DetailView
      page="lines"
      noun={WORDS.noun}
      id={id}
      of={lines}
      isHeld={[useChecks(), useAbout()].some(({ now }) => now.state === 'loading')}
      whyMissing={WORDS.whyMissing}
      head={(line) => (
        <PageHead
          title={<PersonText>{lineName(line)}</PersonText>}
          actions={<Badge of={lineState(line)} />}
        >
          <LineSubtitle line={line} />
        </PageHead>
      )}
    >
      {(line) => <LineParts line={line} lines={lines.value?.data ?? []} />}
    </DetailView>
  )
}

type AllProps = Props & { readonly lines: readonly PhoneLine[] }

function LineParts({ line, lines }: AllProps) {
  const kinds = useKinds()
  return (
    <>
      <AdoptLine line={line} lines={lines} />
      <div class="columns">
        <div class="stack">
          <CheckCard title={WORDS.checks} lineId={line.id} />
          <LineCharts line={line} />
          <LineTest line={line} />
          {isSimulated(line, kinds) && line.status === 'online' && <Simulation line={line} />}
        </div>
        <div class="stack">
          <Card title={WORDS.today}>
            <NewContacts line={line} />
            <LineTraffic line={line} />
          </Card>
          <LineSettings line={line} />
          <QuietHoursCard line={line} />
          <Capabilities line={line} />
          {isDeletable(line, kinds) && (
            <DeleteCard
              page="lines"
              noun="line"
              path={`phone-lines/${line.id}`}
              consequence={WORDS.deleteConsequence}
            >
              {WORDS.deleteHint}
            </DeleteCard>
          )}
        </div>
      </div>
    </>
  )
}

/** After a device or its number was replaced, only the owner knows if the line is still the same. */
function AdoptLine({ line, lines }: AllProps) {
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
  const call = () => api.post<PhoneLine>(`phone-lines/${id}/adopt`, { from })
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
  return status_reason === 'device_absent'
}

type Changes = Partial<
  Pick<PhoneLine, 'label' | 'daily_contact_limit' | 'is_enabled' | 'relay_sms' | 'relay_groups'>
>

function LineSettings({ line }: Props) {
  const { api, notices } = useDashboard()
  const label = useDraft(line.label ?? '')
  const limit = useDraft(String(line.daily_contact_limit))
  const { isBusy, failure, start } = useAction(
    (changes: Changes) => api.patch<PhoneLine>(`phone-lines/${line.id}`, changes),
    () => notices.done(WORDS.saved),
  )
  const save = () =>
    start({
      ...(label.isChanged && { label: label.value.trim() || null }),
      // Anything but a number is sent as it is, and refused by the relay.
      ...(limit.isChanged && { daily_contact_limit: Number(limit.value || 'none') }),
    })
  return (
    <Card title={WORDS.settings}>
      <Form onSubmit={save}>
        <TextField
          label={WORDS.name}
          placeholder={line.phone_number}
          maxLength={100}
          bind={label.bind}
          error={fieldError(failure, 'label')}
        />
        <TextField
          label={WORDS.limit}
          type="number"
          bind={limit.bind}
          error={fieldError(failure, 'daily_contact_limit') && WORDS.limitError}
          hint={WORDS.limitHint}
        />
        <FailureNote failure={failure} but={['label', 'daily_contact_limit']} />
        <div class="actions">
          <Button type="submit" isBusy={isBusy} isDisabled={!label.isChanged && !limit.isChanged}>
            {WORDS.save}
          </Button>
        </div>
      </Form>
      <LineSwitches line={line} onChange={start} />
    </Card>
  )
}

type SwitchesProps = Props & { readonly onChange: (changes: Changes) => void }

function LineSwitches({ line, onChange }: SwitchesProps) {
  return (
    <>
      <Switch
        label={WORDS.sending}
        isOn={line.is_enabled}
        hint={WORDS.sendingHint}
        onChange={(is_enabled) => onChange({ is_enabled })}
      />
      <Switch
        label={WORDS.sms}
        isOn={line.relay_sms}
        hint={WORDS.smsHint}
        onChange={(relay_sms) => onChange({ relay_sms })}
      />
      {line.relay_groups !== undefined && (
        <Switch
          label={WORDS.groups}
          isOn={line.relay_groups}
          hint={WORDS.groupsHint}
          onChange={(relay_groups) => onChange({ relay_groups })}
        />
      )}
    </>
  )
}

/** The stored text, until another one is typed. */
function useDraft(stored: string) {
  const typed = useSignal<string | null>(null)
  useEffect(() => {
    typed.value = null
  }, [stored])
  const value = typed.value ?? stored
  const bind = bindTo(value, (text) => (typed.value = text))
  return { value, bind, isChanged: value.trim() !== stored }
}

type Able = PhoneLine['capabilities']

const CAPABILITIES: readonly (readonly [isAble: (able: Able) => boolean, words: string])[] = [
  [(able) => able.new_contacts, WORDS.can.newContacts],
  [(able) => able.delivered, WORDS.can.delivered],
  [(able) => able.read, WORDS.can.read],
  [(able) => able.choose_service, WORDS.can.chooseService],
  [(able) => able.attachments, WORDS.can.sendsFiles],
  [(able) => able.receives_attachments === true, WORDS.can.receivesFiles],
  [(able) => able.groups !== undefined, WORDS.can.groupsIn],
  [(able) => able.groups === 'reply', WORDS.can.groupsOut],
  [(able) => able.reactions !== undefined, WORDS.can.reactions],
  [(able) => able.replies !== undefined, WORDS.can.replies],
  [(able) => able.edits !== undefined, WORDS.can.edits],
  [(able) => able.guid, WORDS.can.guids],
]

function Capabilities({ line }: Props) {
  return (
    <Card title={WORDS.capabilities}>
      {line.status === 'offline' ? (
        <p class="quiet">{WORDS.capabilitiesLater}</p>
      ) : (
        <ul class="capabilities">
          {CAPABILITIES.map(([test, words]) => {
            const isAble = test(line.capabilities)
            return (
              <li key={words} class={isAble ? undefined : 'quiet'}>
                <Icon name={isAble ? 'check' : 'cross'} />
                <span>
                  {!isAble && <span class="visually-hidden">{WORDS.notSupported} </span>}
                  {words}
                </span>
              </li>
            )
          })}
        </ul>
      )}
    </Card>
  )
}
