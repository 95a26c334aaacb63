// The list of lines, and the view of one line.

import { useSignal } from '@preact/signals'
import { useEffect } from 'preact/hooks'

import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { fieldError } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { CodeBlock } from '../components/code-block.tsx'
import { DetailView } from '../components/detail-view.tsx'
import { ActionForm, DeleteCard } from '../components/dialog.tsx'
import { Switch, TextField, bindTo } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { lazyPage, lazyPart } from '../components/lazy-page.tsx'
import { Card, PageHead, useNewView } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { EmptyState, Skeleton, WhenReady } from '../components/when-ready.tsx'
import { useDashboard, useAction } from '../dashboard.ts'
import {
  useAbout,
  useChecks,
  useKinds,
  useLineChecks,
  useLines,
  useSite,
  useTimeZone,
} from '../sources.ts'
import { combine } from '../store.ts'
import {
  isSimulated,
  kindOf,
  type Kinds,
  lineName,
  lineState,
  trialCommand,
} from '../words/line-states.ts'
import { SHELL } from '../words/shell.ts'
import { AddLineButton } from './add-line.tsx'
import { AdoptLine } from './adopt-line.tsx'
import { LineCharts, LineUptime } from './charts.tsx'
import {
  CheckCard,
  FirstContacts,
  LineSubtitle,
  LineTraffic,
  NewContacts,
} from './line-figures.tsx'
import { LineSite, SiteFilter } from './site-filter.tsx'

const RECEIVE_TEST = lazyPage(null, async () => (await import('./line-test.tsx')).ReceiveTest)
const PLACE = lazyPart(async () => (await import('./line-place.tsx')).LinePlace)
const SIMULATION = lazyPage(null, async () => (await import('./line-test.tsx')).Simulation)

export function LinesPage() {
  const { router } = useDashboard()
  const [id = ''] = router.route.value.path
  useNewView(id)
  return id === '' ? <LineList /> : <LineView key={id} id={id} />
}

function LineList() {
  const site = useSite()
  const skeleton = (
    <div class="cards">
      <Skeleton kind="card" count={2} />
    </div>
  )
  const all = combine({ lines: useLines(), about: useAbout() })
  return (
    <>
      <PageHead
        title={SHELL.names.lines}
        actions={
          <>
            <SiteFilter page="lines" />
            <LinkButton href={href('boxes')}>Boxes</LinkButton>
            <AddLineButton />
          </>
        }
      >
        The Macs and iPhones that send and receive for the relay.
      </PageHead>
      <WhenReady of={all} skeleton={skeleton}>
        {({ lines: { data } }) =>
          data.length === 0 ? (
            <NoLines />
          ) : (
            <div class="cards">
              {data
                .filter(({ site_id }) => site === '' || site_id === site)
                .map((line) => (
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
          <p class="small quiet">Offline since: {since === null ? '…' : <Ago time={since} />}</p>
        )}
      </div>
      {line.site_id === undefined && <LineSite line={line} />}
      <LineUptime line={line} />
      <NewContacts line={line} />
      <LineTraffic line={line} />
    </Card>
  )
}

function NoLines() {
  return (
    <Card>
      <EmptyState
        icon="lines"
        title="No phone line yet"
        action={<CodeBlock what="Command" text={trialCommand(useKinds())} />}
      >
        On a Mac that is signed in to Messages, the line appears automatically. If it doesn't, Home
        shows what's missing. To try Hookline without one, start the relay with:
      </EmptyState>
    </Card>
  )
}

type Props = { readonly line: PhoneLine }

function LineView({ id }: { readonly id: string }) {
  const lines = useLines()
  return (
    <DetailView
      page="lines"
      noun="Line"
      id={id}
      of={lines}
      isHeld={[useChecks(), useAbout()].some(({ now }) => now.state === 'loading')}
      whyMissing="It was deleted, or merged into another line."
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

function LineParts({ line, lines }: Props & { readonly lines: readonly PhoneLine[] }) {
  const kinds = useKinds()
  return (
    <>
      <AdoptLine line={line} lines={lines} />
      <div class="columns">
        <div class="stack">
          <CheckCard title="Checks" lineId={line.id} />
          <LineCharts line={line} />
          <Card title="Test this line">
            <RECEIVE_TEST.View line={line} />
          </Card>
          {isSimulated(line, kinds) && line.status === 'online' && <SIMULATION.View line={line} />}
        </div>
        <div class="stack">
          <Card title="Today">
            <NewContacts line={line} />
            <LineTraffic line={line} />
          </Card>
          <Card title="People it wrote to first">
            <FirstContacts line={line} />
          </Card>
          <LineSettings line={line} />
          <QuietHoursCard line={line} />
          <Capabilities line={line} />
          <PLACE.View line={line} />
          {isDeletable(line, kinds, lines) && (
            <DeleteCard
              page="lines"
              noun="line"
              id={line.id}
              consequence="It will no longer be listed. Its messages keep its ID and number, and can still be read."
            >
              This line is no longer in use. Its messages are kept.
            </DeleteCard>
          )}
        </div>
      </div>
    </>
  )
}

/** The relay allows deleting only lines that are no longer in use. */
function isDeletable(line: PhoneLine, kinds: Kinds, lines: readonly PhoneLine[]): boolean {
  const { id, status_reason: reason, phone_number } = line
  const isTwin = lines.some((one) => one.id !== id && one.phone_number === phone_number)
  if (reason === 'box_removed' || (isTwin && reason === 'device_absent')) return true
  const deletable = kindOf(line, kinds)?.deletable_reason ?? null
  return deletable !== null && reason === deletable
}

type Changes = Partial<
  Pick<PhoneLine, 'label' | 'daily_contact_limit' | 'is_enabled' | 'relay_sms' | 'relay_groups'>
>

function LineSettings({ line }: Props) {
  const { api, notices } = useDashboard()
  const label = useDraft(line.label ?? '')
  const limit = useDraft(String(line.daily_contact_limit))
  const { start, ...state } = useAction(
    (body: Changes) => api.call('updatePhoneLine', { params: { id: line.id }, body }),
    () => notices.done('Saved.'),
  )
  const { failure } = state
  const save = () =>
    start({
      ...(label.isChanged && { label: label.value.trim() || null }),
      // An empty field becomes NaN, which the relay refuses.
      ...(limit.isChanged && { daily_contact_limit: Number(limit.value || 'none') }),
    })
  return (
    <Card title="Settings">
      <ActionForm
        action={{ ...state, start: save }}
        but={['label', 'daily_contact_limit']}
        submit="Save"
        isReady={label.isChanged || limit.isChanged}
      >
        <TextField
          label="Name"
          placeholder={line.phone_number}
          maxLength={100}
          bind={label.bind}
          error={fieldError(failure, 'label')}
        />
        <TextField
          label="Daily new-contact limit"
          type="number"
          bind={limit.bind}
          error={
            fieldError(failure, 'daily_contact_limit') && 'Enter a whole number from 0 to 100,000.'
          }
          hint="Apple blocks lines that message many strangers. Existing contacts don't count."
        />
      </ActionForm>
      <LineSite line={line} />
      <LineSwitches line={line} onChange={start} />
    </Card>
  )
}

type SwitchesProps = Props & { readonly onChange: (changes: Changes) => void }

function LineSwitches({ line, onChange }: SwitchesProps) {
  return (
    <>
      <Switch
        label="Send messages"
        isOn={line.is_enabled}
        hint="When off, it still receives. New messages through it are refused; those already queued wait up to 24 hours."
        onChange={(is_enabled) => onChange({ is_enabled })}
      />
      <Switch
        label="Relay SMS and RCS"
        isOn={line.relay_sms}
        hint="When on, webhooks fire for SMS and RCS as well. When off, they only appear in the history, and stay there if you turn this on later."
        onChange={(relay_sms) => onChange({ relay_sms })}
      />
      {line.relay_groups !== undefined && (
        <Switch
          label="Relay groups"
          isOn={line.relay_groups}
          hint="When on, group conversations are stored and webhooks fire for them. When off, their messages are only counted."
          onChange={(relay_groups) => onChange({ relay_groups })}
        />
      )}
    </>
  )
}

/** The stored text, until another is typed. */
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
  [(able) => able.new_contacts, 'Messages new contacts'],
  [(able) => able.delivered, 'Provides delivery receipts'],
  [(able) => able.read, 'Provides read receipts'],
  [(able) => able.choose_service, 'Lets you choose between iMessage and SMS'],
  [(able) => able.attachments, 'Sends pictures and files'],
  [(able) => able.receives_attachments === true, 'Receives pictures and files'],
  [(able) => able.groups !== undefined, 'Receives group messages'],
  [(able) => able.groups === 'reply', 'Sends to existing groups'],
  [(able) => able.reactions !== undefined, 'Receives reactions'],
  [(able) => able.replies !== undefined, 'Receives replies with their quote'],
  [(able) => able.edits !== undefined, 'Receives edits and unsent messages'],
  [(able) => able.guid, 'Provides device message IDs'],
]

function Capabilities({ line }: Props) {
  return (
    <Card title="Capabilities">
      {line.status === 'offline' ? (
        <p class="quiet">Shown once the line is online.</p>
      ) : (
        <ul class="capabilities">
          {CAPABILITIES.map(([test, words]) => {
            const isAble = test(line.capabilities)
            return (
              <li key={words} class={isAble ? undefined : 'quiet'}>
                <Icon name={isAble ? 'check' : 'cross'} />
                <span>
                  {!isAble && <span class="visually-hidden">Not supported: </span>}
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

function QuietHoursCard({ line }: { readonly line: PhoneLine }) {
  const { api, notices } = useDashboard()
  const { from: storedFrom = '', to: storedTo = '' } = line.quiet_hours ?? {}
  const from = useSignal(storedFrom)
  const to = useSignal(storedTo)
  const { start, ...state } = useAction(
    (quiet_hours: NonNullable<PhoneLine['quiet_hours']> | null) =>
      api.call('updatePhoneLine', { params: { id: line.id }, body: { quiet_hours } }),
    () => notices.done('Saved.'),
  )
  const isChanged = from.value !== storedFrom || to.value !== storedTo
  const isWhole = from.value !== '' && to.value !== ''
  const turnOff = () => {
    from.value = to.value = ''
    start(null)
  }
  return (
    <Card title="Quiet hours">
      <p class="small quiet">{`Messages wait until they end, in the time zone ${useTimeZone() ?? '…'}. Urgent ones don't.`}</p>
      <ActionForm
        action={{ ...state, start: () => start({ from: from.value, to: to.value }) }}
        submit="Save"
        isReady={isChanged && isWhole}
        beside={
          storedFrom !== '' && (
            <Button variant="quiet" isBusy={state.isBusy} onClick={turnOff}>
              Turn off
            </Button>
          )
        }
      >
        <div class="row">
          <TextField type="time" label="From" bind={from} />
          <TextField type="time" label="To" bind={to} />
        </div>
      </ActionForm>
    </Card>
  )
}
