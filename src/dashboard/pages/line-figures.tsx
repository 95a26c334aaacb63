// Figures of a line, such as new contacts today, latest messages and queue, and its checks.

import type { ComponentChildren } from 'preact'
import { useId } from 'preact/hooks'

import type { Check } from '../../api/dashboard.ts'
import type { Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import { Button } from '../components/button.tsx'
import { DownloadButton } from '../components/download-button.tsx'
import { Icon } from '../components/icon.tsx'
import { Facts, Card } from '../components/page.tsx'
import { Ago, PersonText } from '../components/text.tsx'
import { ReadFailure, WhenReady } from '../components/when-ready.tsx'
import { useRead, useDashboard, useQuickAction } from '../dashboard.ts'
import { numberWords } from '../numbers.ts'
import { useKinds, useTimeZone, useChecks } from '../sources.ts'
import { combine } from '../store.ts'
import { countWords, grouped } from '../words/common.ts'
import { kindName } from '../words/line-states.ts'
import { statusWords } from '../words/message-states.ts'

type Props = { readonly line: PhoneLine }

export function LineSubtitle({ line }: Props) {
  return (
    <>
      {line.label !== null && <span class="figures">{numberWords(line.phone_number)} · </span>}
      {kindName(line, useKinds())}
      {line.box !== undefined && <PersonText>{` · ${line.box.name}`}</PersonText>}
    </>
  )
}

export function NewContacts({ line }: Props) {
  const timeZone = useTimeZone()
  return (
    <div class="stack-tight">
      <NewContactsMeter line={line} />
      <p class="small quiet">
        {timeZone === null ? '\u00A0' : `Resets at midnight, ${timeZone} time.`}
      </p>
    </div>
  )
}

/** Amber from 80 % of the limit, red once it is reached. */
function NewContactsMeter({ line }: { readonly line: PhoneLine }) {
  const { new_contacts_today: value, daily_contact_limit: max } = line
  const id = useId()
  return (
    <div class="meter">
      <div class="meter-words" id={id}>
        <span>New contacts today</span>
        <span class="figures">{`${grouped(value)} of ${grouped(max)}`}</span>
      </div>
      <meter
        aria-labelledby={id}
        min={0}
        // A limit of 0 is always reached.
        max={max === 0 ? 1 : max}
        value={value >= max ? Math.max(max, 1) : value}
        low={max * 0.8}
        high={Math.max(max - 0.5, 0)}
        optimum={0}
      />
    </div>
  )
}

export function LineTraffic({ line }: Props) {
  const useLatest = (filter: Readonly<Record<string, string>>, limit: number) =>
    useRead('listMessages', { query: { phone_line_id: line.id, ...filter, limit } }, 'message')
  const traffic = combine({
    received: useLatest({ direction: 'inbound' }, 1),
    sent: useLatest({ direction: 'outbound' }, 1),
    queued: useLatest({ status: 'queued' }, 50),
  })
  const { now, value } = traffic
  if (now.state === 'failed') return <ReadFailure of={traffic} />
  const sent = value?.sent.data[0]
  return (
    <Facts
      of={[
        ['Last received', value && <LatestMessage message={value.received.data[0]} />],
        [
          'Last outgoing',
          value && (
            <LatestMessage message={sent}>
              {sent && ` · ${statusWords(sent.status, sent.error).text}`}
            </LatestMessage>
          ),
        ],
        ['Quiet hours', line.quiet_hours !== undefined && quietWords(line.quiet_hours)],
        ['Queued', value && countOf(value.queued.data.length, value.queued.has_more)],
      ]}
    />
  )
}

/** People whom the line wrote to first, how many answered or failed, and the poster that makes people write first. */
export function FirstContacts({ line: { id } }: Props) {
  const figures = useRead('getLinePictures', { params: { id } }, 'line', 'message')
  const words = (of: 'days_7' | 'days_28') => {
    const { people, answered, failed } = figures.value?.first_contacts[of] ?? NOBODY
    const who = people === 1 ? '1 person' : `${grouped(people)} people`
    return `${who}, ${grouped(answered)} answered, ${grouped(failed)} failed`
  }
  return (
    <>
      <Facts
        of={[
          ['Last 7 days', figures.value && words('days_7')],
          ['Last 28 days', figures.value && words('days_28')],
        ]}
      />
      <p class="small quiet">
        Customers who write first stay known: <a href="/guide/staying-welcome">Staying welcome</a>.
      </p>
      <DownloadButton id="getPoster" call={{ params: { id } }} name="text-us.html">
        Poster “Text us”
      </DownloadButton>
    </>
  )
}

const NOBODY = { people: 0, answered: 0, failed: 0 }

function LatestMessage(props: {
  readonly message: Message | undefined
  readonly children?: ComponentChildren
}) {
  const { message, children } = props
  if (message === undefined) return <>Never</>
  return (
    <a href={href('conversations', [message.conversation_id])}>
      <Ago time={message.created_at} isInside />
      {children}
    </a>
  )
}

function quietWords({ from, to }: NonNullable<PhoneLine['quiet_hours']>): string {
  return `${from} to ${to}`
}

function countOf(count: number, isMore: boolean): string {
  if (isMore) return `${grouped(count)}+ messages`
  return count === 0 ? 'None' : countWords(count, 'message')
}

const SIGNS = {
  ok: ['ok', 'check', 'Passed'],
  info: ['wait', 'info', 'Info'],
  warn: ['warn', 'warning', 'Warning'],
  bad: ['bad', 'cross', 'Failed'],
  unknown: ['plain', 'question', 'Not checked yet'],
} as const

type CheckProps = {
  readonly title: string
  /** Null for the relay's own Mac. */
  readonly lineId: string | null
}

/** Each requirement of a line with its result, and a fix if it failed. */
export function CheckCard({ title, lineId }: CheckProps) {
  return (
    <Card title={title} actions={<CheckAgain />}>
      <WhenReady of={useChecks()} kind="row" count={4}>
        {({ data }) => {
          const found = data.find(({ line_id }) => line_id === lineId)
          return (
            found && (
              <>
                <p role="status">{found.summary}</p>
                <ol>
                  {found.checks.map((check, index) => (
                    <CheckItem key={index} {...check} />
                  ))}
                </ol>
              </>
            )
          )
        }}
      </WhenReady>
    </Card>
  )
}

/** The relay's answer takes as long as the devices need to respond. */
function CheckAgain() {
  const { api, notices } = useDashboard()
  const { refresh } = useChecks()
  const { isBusy, start } = useQuickAction(
    () => api.call('listChecks'),
    () => {
      refresh()
      notices.done('Checks updated.')
    },
  )
  return (
    <Button icon="again" isBusy={isBusy} onClick={start}>
      Check again
    </Button>
  )
}

function CheckItem({ state, title, why, fix }: Check) {
  const [tone, icon, word] = SIGNS[state]
  return (
    <li class={`check tone-${tone}`}>
      <span class="check-sign">
        <Icon name={icon} />
      </span>
      <p>{title}</p>
      <span class="check-word small">{word}</span>
      {why !== null && <p class="check-more small quiet">{why}</p>}
      {fix !== null && <p class="check-more small">{fix}</p>}
    </li>
  )
}
