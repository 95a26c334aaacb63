// One message of a thread.

import type { Signal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import type { SessionState } from '../../api/dashboard.ts'
import type { Message } from '../../api/messages.ts'
import { href } from '../address.ts'
import { Icon } from '../components/icon.tsx'
import { lazyPart } from '../components/lazy-page.tsx'
import { LongText, PersonText } from '../components/text.tsx'
import { useDashboard } from '../dashboard.ts'
import type { Feed } from '../feed.ts'
import { personColor, personName } from '../people.ts'
import type { Place } from '../runs.ts'
import { absoluteTime, clockTime } from '../time-words.ts'
import { grouped } from '../words/common.ts'
import { reactionWords } from '../words/conversations.ts'
import { serviceWords, statusWords, whyNot } from '../words/message-states.ts'
import { MessageFiles } from './message-files.tsx'

/** With these, there is something to decide. */
const UNSETTLED = new Set<string>(['uncertain', 'queued', 'failed', 'expired'])
const STEPS = lazyPart(async () => (await import('./message-actions.tsx')).MessageSteps)

type Props = { readonly message: Message; readonly onChanged: (message: Message) => void }

function bubbleId(messageId: string): string {
  return `bubble-${messageId}`
}

/** Scrolls to a message and focuses it. Returns false if it is not loaded. */
function showBubble(messageId: string): boolean {
  const bubble = document.getElementById(bubbleId(messageId))
  bubble?.scrollIntoView({ block: 'center' })
  bubble?.focus({ preventScroll: true })
  return bubble !== null
}

/** Scrolls once to the address's `target` message. If it isn't loaded, sets `around`, which loads it. */
export function useTarget(
  feed: Feed<Message>,
  target: string | null,
  around: Signal<string | null>,
): void {
  const shown = useRef<string | null>(null)
  const now = feed.now.value
  useEffect(() => {
    if (target === null || shown.current === target || now.state === 'loading') return
    if (now.state === 'failed') {
      // The message was deleted.
      if (now.failure.status !== 404 || around.value === null) return
      shown.current = target
      around.value = null
    } else if (now.entries.some(({ id }) => id === target)) {
      shown.current = showBubble(target) ? target : null
    } else if (around.value !== target) around.value = target
  }, [feed, now.state, target])
}

/** A message outside of a run. */
const ALONE: Place = { isFirst: true, isLast: true, hasAbout: true }

export function Bubble({
  message,
  onChanged,
  place = ALONE,
}: Props & { readonly place: Place | undefined }) {
  const isOwn = message.direction === 'outbound'
  const why = isOwn ? whyNot(message) : null
  const classes = [
    isOwn ? 'bubble-own' : 'bubble-theirs',
    place.isFirst && 'bubble-first',
    place.isLast && 'bubble-last',
    message.status === 'queued' && 'bubble-held',
  ]
  return (
    <article
      id={bubbleId(message.id)}
      tabIndex={-1}
      class={`bubble ${classes.filter(Boolean).join(' ')}`}
    >
      {place.isFirst && <Sender message={message} />}
      <Quote message={message} />
      <span class="visually-hidden">{isOwn ? 'Outgoing:' : 'Incoming:'} </span>
      <MessageFiles message={message} />
      <Words message={message} />
      <Reactions message={message} />
      <About message={message} isHidden={!place.hasAbout} />
      <Edits message={message} />
      {why !== null && <p class="bubble-why">{why}</p>}
      {isOwn && UNSETTLED.has(message.status) && <STEPS.View {...{ message, onChanged }} />}
    </article>
  )
}

type MessageProps = { readonly message: Message }

function Sender({ message: { sender } }: MessageProps) {
  if (sender === undefined || sender === null) return null
  return (
    <p class={`bubble-sender ${personColor(sender.handle)}`}>
      <PersonText>{personName(sender)}</PersonText>
    </p>
  )
}

function Quote({ message: { reply_to, conversation_id } }: MessageProps) {
  const { router } = useDashboard()
  if (reply_to === undefined) return null
  const { message_id, text_excerpt } = reply_to
  const text = text_excerpt === null || text_excerpt === '' ? 'A message' : text_excerpt
  const show = (id: string) => {
    const { query } = router.route.value
    if (!showBubble(id))
      router.go(href('conversations', [conversation_id], { ...query, message: id }))
  }
  const words = (
    <>
      <span class="visually-hidden">In reply to: </span>
      <PersonText>{text}</PersonText>
    </>
  )
  if (message_id === null) return <p class="bubble-quote">{words}</p>
  return (
    <button type="button" class="bubble-quote" onClick={() => show(message_id)}>
      {words}
    </button>
  )
}

function Words({ message: { text, unsent_at, attachments } }: MessageProps) {
  if (unsent_at !== undefined) {
    return (
      <p class="bubble-unsent" title={absoluteTime(unsent_at)}>
        Message unsent
      </p>
    )
  }
  if (text === '' && attachments !== undefined) return null
  return (
    <div class="bubble-text">
      <LongText text={text} />
    </div>
  )
}

function Reactions({ message: { reactions = [] } }: MessageProps) {
  if (reactions.length === 0) return null
  return (
    <ul class="bubble-reactions" aria-label="Reactions">
      {reactionWords(reactions).map(({ sign, count, words }) => (
        <li key={sign} title={words}>
          <span class="one-line" aria-hidden="true">
            <PersonText>{sign}</PersonText> {count > 1 && grouped(count)}
          </span>
          <span class="visually-hidden">{words}</span>
        </li>
      ))}
    </ul>
  )
}

const SOURCES: Readonly<Record<string, string>> = {
  api: 'API',
  cli: 'Command line',
  dashboard: 'Owner',
  device: 'Typed on the device',
}

/** The author's name. Messages of the dashboard without a member are the owner's. */
function authorWords({ sent_by, source }: Message, member: SessionState['member']): string {
  if (source === 'dashboard' && sent_by?.id === member?.id) return 'You'
  return sent_by?.name ?? SOURCES[source] ?? source
}

function About({ message, isHidden }: MessageProps & { readonly isHidden: boolean }) {
  const isOwn = message.direction === 'outbound'
  const service = serviceWords(message)
  const { session } = useDashboard()
  return (
    <p class={isHidden ? 'visually-hidden' : 'bubble-about'}>
      <time dateTime={message.created_at} title={absoluteTime(message.created_at)}>
        {clockTime(message.created_at)}
      </time>
      {message.service !== 'iMessage' && <span>{message.service}</span>}
      {service !== null && <span>{service}</span>}
      {isOwn && (
        <span>
          <PersonText>{authorWords(message, session.member)}</PersonText>
        </span>
      )}
      {isOwn && <Status message={message} />}
    </p>
  )
}

function Status({ message }: MessageProps) {
  const { text, tone, icon } = statusWords(message.status, message.error)
  const at = message.read_at ?? message.delivered_at ?? message.sent_at
  return (
    <span
      class={`bubble-status tone-${tone}`}
      title={at === null ? undefined : `${text} ${absoluteTime(at)}`}
    >
      <Icon name={icon} />
      {text}
    </span>
  )
}

function Edits({ message: { edits = [] } }: MessageProps) {
  if (edits.length === 0) return null
  return (
    <details class="bubble-edits">
      <summary>Edited</summary>
      <ol>
        {edits.map(({ text, at }) => (
          <li key={at}>
            <time class="quiet" dateTime={at} title={absoluteTime(at)}>
              {clockTime(at)}
            </time>
            <LongText text={text} />
          </li>
        ))}
      </ol>
    </details>
  )
}
