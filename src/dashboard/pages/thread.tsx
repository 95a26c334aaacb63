// One conversation: its head, its messages, and the composer.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import { countWords } from '../../domain/number-words.ts'
import { href, withQuery } from '../address.ts'
import type { Answer, Api } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Form, Switch } from '../components/form.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { NearView } from '../components/long-list.tsx'
import { LongText, PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { EmptyState } from '../components/when-ready.tsx'
import { useDashboard, useFeed, useRead } from '../dashboard.ts'
import type { Feed, FeedSource } from '../feed.ts'
import { isReady, lineName, lineState } from '../line-words.ts'
import { sourceWords, statusWords, whyNot } from '../message-words.ts'
import { sendOnce } from '../outbox.ts'
import type { Conversation, Message, PhoneLine } from '../resources.ts'
import { absoluteTime, clockTime, dayWords } from '../time-words.ts'
import { SendButton, useComposition } from './send-form.tsx'

const MESSAGES_MAX = 2_000
/** Within this distance from the end, in pixels, the view shows the latest messages. */
const END_PX = 60

type Props = { readonly id: string; readonly lines: readonly PhoneLine[] }

export function Thread({ id, lines }: Props) {
  const { api, router } = useDashboard()
  const feed = useFeed(id, messageSource(api, id))
  const path = `conversations/${encodeURIComponent(id)}`
  const { now, value: conversation, refresh } = useRead<Conversation>(path, id)
  const movedTo = conversation?.moved_to
  // The page follows a conversation that moved to another line.
  useEffect(() => {
    const { query } = router.route.value
    if (movedTo !== undefined) router.replace(href('conversations', [movedTo], query))
  }, [movedTo, router])
  if (now.state === 'failed') {
    if (now.failure.status === 404) return <NoConversation />
    return <FailureNote failure={now.failure} onRetry={refresh} />
  }
  const line = lines.find((each) => each.id === conversation?.phone_line_id) ?? null
  return (
    <div class="thread">
      <ThreadHead conversation={conversation} line={line} onChanged={refresh} />
      <MessageList feed={feed} handle={conversation?.handle ?? null} />
      {conversation === null ? (
        <div class="composer-place" />
      ) : (
        <Composer conversation={conversation} line={line} onSent={(sent) => feed.add(sent)} />
      )}
    </div>
  )
}

function messageSource(api: Api, conversationId: string): FeedSource<Message> {
  return {
    page: (cursor, limit, signal) =>
      api.get(withQuery('messages', { conversation_id: conversationId, cursor, limit }), signal),
    entry: (id, signal) => api.get(`messages/${id}`, signal),
    idIn: ({ id, conversation_id }) => (conversation_id === conversationId ? id : null),
    movesUp: () => false,
    countMax: MESSAGES_MAX,
  }
}

function NoConversation() {
  return (
    <EmptyState
      icon="search"
      title="Conversation not found"
      action={<LinkButton href={href('conversations')}>All conversations</LinkButton>}
    >
      It may have been removed by your retention setting.
    </EmptyState>
  )
}

type HeadProps = {
  readonly conversation: Conversation | null
  readonly line: PhoneLine | null
  readonly onChanged: () => void
}

function ThreadHead({ conversation, line, onChanged }: HeadProps) {
  const { router } = useDashboard()
  const { line: filter = null } = router.route.value.query
  const back = href('conversations', [], { line: filter })
  return (
    <header class="thread-head">
      <span class="thread-back">
        <LinkButton look="quiet" icon="back" isIconOnly href={back}>
          All conversations
        </LinkButton>
      </span>
      <div class="grow">
        <h2 class="one-line" aria-hidden={conversation === null}>
          <PersonText>{conversation?.handle ?? '\u00A0'}</PersonText>
        </h2>
        <p class="row small quiet thread-line">
          {conversation !== null && (
            <span>
              via{' '}
              <PersonText>{line === null ? conversation.phone_number : lineName(line)}</PersonText>
            </span>
          )}
          {line !== null && !isReady(line) && <Badge of={lineState(line)} />}
        </p>
      </div>
      {conversation !== null && <Takeover conversation={conversation} onChanged={onChanged} />}
    </header>
  )
}

type TakeoverProps = { readonly conversation: Conversation; readonly onChanged: () => void }

function Takeover({ conversation, onChanged }: TakeoverProps) {
  const { id, automation_paused } = conversation
  const { api, notices } = useDashboard()
  const { start } = useAction(
    (isOn: boolean) => api.patch<Conversation>(`conversations/${id}`, { automation_paused: isOn }),
    (changed) => {
      onChanged()
      notices.done(
        changed.automation_paused
          ? 'Human takeover is on. Apps are asked not to reply.'
          : 'Human takeover is off. Apps may reply again.',
      )
    },
    (failure) => notices.failed(failure.message),
  )
  return <Switch label="Human takeover" isOn={automation_paused} onChange={start} />
}

type ListProps = { readonly feed: Feed<Message>; readonly handle: string | null }

/** The messages, oldest first, with the view at the end. Older ones are loaded at the top. */
function MessageList({ feed, handle }: ListProps) {
  const now = feed.now.value
  const scroller = useRef<HTMLDivElement>(null)
  const isAtEnd = useSignal(true)
  const messages = now.state === 'ready' ? now.entries : []
  useAnnouncements(messages, handle)
  if (now.state === 'failed') {
    return (
      <div class="messages-note">
        <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
      </div>
    )
  }
  // The scroller counts from its end, which stays in place when older messages are added above.
  return (
    <div class="messages-frame">
      <div
        class="messages"
        ref={scroller}
        // Scrolled by keyboard.
        tabIndex={0}
        role="region"
        aria-label="Messages"
        onScroll={(event) => (isAtEnd.value = event.currentTarget.scrollTop > -END_PX)}
      >
        <div class="messages-all" key={now.state}>
          <Beginning feed={feed} />
          {now.state === 'loading' && (
            <div class="bubbles-waiting" aria-hidden="true">
              <span class="skeleton" />
              <span class="skeleton" />
              <span class="skeleton" />
            </div>
          )}
          <Days messages={messages} onChanged={(message) => feed.add(message)} />
        </div>
      </div>
      {!isAtEnd.value && (
        <div class="messages-jump">
          <Button icon="down" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
            Jump to latest
          </Button>
        </div>
      )}
    </div>
  )
}

/** Announces messages that arrive while the conversation is open, those of one update together. */
function useAnnouncements(messages: readonly Message[], handle: string | null): void {
  const { notices } = useDashboard()
  const newest = useRef<string | null>(null)
  useEffect(() => {
    const before = newest.current
    newest.current = messages[0]?.id ?? before
    const known = messages.findIndex(({ id }) => id === before)
    const count = messages
      .slice(0, Math.max(known, 0))
      .filter(({ direction }) => direction === 'inbound').length
    if (count === 0) return
    notices.announce(`${countWords(count, 'new message')} from ${handle ?? 'them'}`)
  }, [messages])
}

/** Reads older messages when it comes into view. */
function Beginning({ feed }: { readonly feed: Feed<Message> }) {
  const now = feed.now.value
  const cursor = now.state === 'ready' ? now.nextCursor : null
  const isFull = now.state === 'ready' && now.entries.length >= MESSAGES_MAX
  return (
    <NearView within=".messages" again={cursor} onSeen={() => void feed.readMore()}>
      {isFull && (
        <p class="messages-beginning small quiet">
          Older messages aren't shown here. Use the API to read them.
        </p>
      )}
    </NearView>
  )
}

type DaysProps = {
  readonly messages: readonly Message[]
  readonly onChanged: (message: Message) => void
}

function Days({ messages, onChanged }: DaysProps) {
  const { clock } = useDashboard()
  const today = clock.now.value
  const ordered = messages.toReversed()
  const dayOf = (message: Message | undefined) =>
    message === undefined ? '' : dayWords(message.created_at, today)
  return (
    <ol class="bubbles">
      {ordered.map((message, index) => {
        const before = ordered[index - 1]
        const day = dayOf(message)
        const isSameSide = before?.direction === message.direction
        return (
          <li key={message.id} class={isSameSide ? 'bubble-follows' : undefined}>
            {day !== dayOf(before) && <p class="day">{day}</p>}
            <Bubble message={message} onChanged={onChanged} />
          </li>
        )
      })}
    </ol>
  )
}

type BubbleProps = {
  readonly message: Message
  readonly onChanged: (message: Message) => void
}

function Bubble({ message, onChanged }: BubbleProps) {
  const isOwn = message.direction === 'outbound'
  const why = isOwn ? whyNot(message) : null
  return (
    <article class={`bubble ${isOwn ? 'bubble-own' : 'bubble-theirs'}`}>
      <div class="bubble-text">
        <span class="visually-hidden">{isOwn ? 'Sent:' : 'Received:'} </span>
        <LongText text={message.text} />
      </div>
      <p class="bubble-about">
        <time dateTime={message.created_at} title={absoluteTime(message.created_at)}>
          {clockTime(message.created_at)}
        </time>
        {message.service !== 'iMessage' && <span>{message.service}</span>}
        {isOwn && <span>{sourceWords(message.source)}</span>}
        {isOwn && <Status message={message} />}
      </p>
      {why !== null && <p class="bubble-why">{why}</p>}
      {isOwn && <NextSteps message={message} onChanged={onChanged} />}
    </article>
  )
}

function Status({ message }: { readonly message: Message }) {
  const { text, tone, icon } = statusWords(message.status)
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

function NextSteps({ message, onChanged }: BubbleProps) {
  const { api, notices } = useDashboard()
  const { isBusy, start } = useAction(
    (call: () => Promise<Answer<Message>>) => call(),
    (changed) => {
      onChanged(changed)
      notices.done(changed.id === message.id ? 'Saved.' : 'Sent again. See the end of the thread.')
    },
    (failure) => notices.failed(failure.message),
  )
  const resolve = (status: 'sent' | 'failed') => () =>
    start(() => api.post(`messages/${message.id}/resolve`, { status }))
  function sendAgain() {
    const { id, handle, text, phone_line_id } = message
    // The key comes from the message, which is sent again once, however many pages are open.
    start(() => sendOnce(api, { to: handle, text, lineId: phone_line_id }, `again-${id}`))
  }
  if (message.status === 'uncertain') {
    return (
      <div class="actions bubble-actions">
        <Button icon="check" isBusy={isBusy} onClick={resolve('sent')}>
          Mark as sent
        </Button>
        <Button icon="cross" isBusy={isBusy} onClick={resolve('failed')}>
          Mark as failed
        </Button>
      </div>
    )
  }
  if (message.status !== 'failed' && message.status !== 'expired') return null
  return (
    <div class="actions bubble-actions">
      <Button icon="again" isBusy={isBusy} onClick={sendAgain}>
        Send again
      </Button>
    </div>
  )
}

type ComposerProps = {
  readonly conversation: Conversation
  readonly line: PhoneLine | null
  readonly onSent: (message: Message) => void
}

/** Enter sends, Shift and Enter start a new line. */
function Composer({ conversation, line, onSent }: ComposerProps) {
  const { text, isBusy, failure, send } = useComposition(onSent)
  const { handle, phone_line_id } = conversation
  const submit = () => send(handle, phone_line_id)
  return (
    <Form class="composer" onSubmit={submit}>
      <FailureNote failure={failure} />
      <div class="composer-row">
        <textarea
          class="input"
          dir="auto"
          rows={1}
          aria-label={`Message to ${handle}`}
          placeholder={line?.status === 'offline' ? 'Line offline, message will wait' : 'Message'}
          value={text.value}
          onInput={(event) => (text.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            // During the composition of a word, Enter chooses it.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return
            event.preventDefault()
            submit()
          }}
        />
        <SendButton isIconOnly isBusy={isBusy} isDisabled={text.value.trim() === ''} />
      </div>
    </Form>
  )
}
