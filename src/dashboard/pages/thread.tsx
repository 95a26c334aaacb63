// One conversation: head, messages and composer.

import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

import type { Conversation, Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import type { Api } from '../api.ts'
import { Button, LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Face } from '../components/icon.tsx'
import { lazyPart } from '../components/lazy-page.tsx'
import { NearView } from '../components/long-list.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import type { Feed, FeedSource } from '../feed.ts'
import { numberWords } from '../numbers.ts'
import { OPTED_OUT } from '../outbox.ts'
import { conversationName, isGroup } from '../people.ts'
import { placesOf } from '../runs.ts'
import { dayWords } from '../time-words.ts'
import { useFeed } from '../use-feed.ts'
import { countWords } from '../words/common.ts'
import { CONVERSATIONS } from '../words/conversations.ts'
import { lineName } from '../words/line-states.ts'
import { groupRefusal } from '../words/message-states.ts'
import { Bubble, useTarget } from './bubble.tsx'
import { useFileTarget, Composer, takesFiles, useComposition } from './composer.tsx'
import { Participants, Takeover, ThreadMarks, ThreadMenu } from './thread-menu.tsx'

const APPROVAL_BAR = lazyPart(async () => (await import('./message-actions.tsx')).ApprovalBar)
const OPT_OUT_BAR = lazyPart(async () => (await import('./opt-outs.tsx')).OptOutBar)

const MESSAGES_MAX = 2_000
/** Within this distance from the end, the latest messages count as in view. */
const END_PX = 60

type Props = { readonly id: string; readonly lines: readonly PhoneLine[] }

export function Thread({ id, lines }: Props) {
  const { api, router } = useDashboard()
  const { message: target = null } = router.route.value.query
  const around = useSignal<string | null>(null)
  const feed = useFeed(`${id} ${around.value}`, messageSource(api, id, around.value))
  useTarget(feed, target, around)
  const { now, value: conversation, refresh } = useRead('getConversation', { params: { id } }, id)
  useMove(id, conversation?.moved_to)
  if (now.state === 'failed') {
    if (now.failure.status === 404) return <NoConversation />
    return <FailureNote failure={now.failure} onRetry={refresh} />
  }
  const line = lines.find((each) => each.id === conversation?.phone_line_id) ?? null
  const showLatest = () => {
    const { query } = router.route.value
    if (around.value !== null) around.value = null
    router.replace(href('conversations', [id], { ...query, message: null }))
  }
  return (
    <ThreadParts
      {...{ feed, conversation, line, showLatest }}
      isLatest={around.value === null}
      onChanged={refresh}
      onSent={(sent) => (around.value === null ? feed.add(sent) : showLatest())}
    />
  )
}

/** Follows a conversation that moved to another line. */
function useMove(id: string, movedTo: string | undefined): void {
  const { api, router } = useDashboard()
  useEffect(() => {
    if (movedTo === undefined) return
    const end = new AbortController()
    const follow = async () => {
      // It may have moved back: two outdated answers would redirect back and forth forever.
      const call = { params: { id }, signal: end.signal }
      const answer = await api.call('getConversation', call)
      if (end.signal.aborted || !answer.ok || answer.value.moved_to === undefined) return
      const { query } = router.route.value
      router.replace(href('conversations', [answer.value.moved_to], query))
    }
    void follow()
    return () => end.abort()
  }, [movedTo])
}

type PartsProps = HeadProps & {
  readonly feed: Feed<Message>
  /** False if the list doesn't include the latest messages. */
  readonly isLatest: boolean
  readonly showLatest: () => void
  readonly onSent: (message: Message) => void
}

/** Accepts files dropped or pasted anywhere in the thread. */
function ThreadParts(props: PartsProps) {
  const { feed, conversation, line, isLatest, showLatest, onChanged, onSent } = props
  const scroller = useRef<HTMLDivElement>(null)
  const composition = useComposition((message) => {
    onSent(message)
    showEnd(scroller)
  })
  const isRefused = composition.failure?.code === OPTED_OUT
  useReadMark(isLatest ? feed : null, conversation, onChanged)
  const isOpen = conversation !== null && groupRefusal(conversation, line) === null
  const target = isOpen && takesFiles(line) ? composition.uploads : null
  const { isOver, handlers } = useFileTarget(target)
  return (
    <div class={isOver ? 'thread is-drop-target' : 'thread'} {...handlers}>
      <ThreadHead conversation={conversation} line={line} onChanged={onChanged} />
      <MessageList {...{ feed, conversation, isLatest, showLatest, scroller }} />
      {conversation !== null && (
        <APPROVAL_BAR.View conversationId={conversation.id} latest={latestOf(feed)} />
      )}
      {(conversation?.opted_out || isRefused) && (
        <OPT_OUT_BAR.View confirmed={composition.confirmed} isRefused={isRefused} />
      )}
      {conversation === null ? (
        <div class="composer-place" />
      ) : (
        <Composer {...{ conversation, line, composition }} />
      )}
    </div>
  )
}

function latestOf(feed: Feed<Message>): string | undefined {
  const now = feed.now.value
  return now.state === 'ready' ? now.entries[0]?.id : undefined
}

/** Marks the conversation as read while its latest messages are loaded and the page is in use. */
function useReadMark(
  feed: Feed<Message> | null,
  conversation: Conversation | null,
  onChanged: () => void,
): void {
  const { api } = useDashboard()
  const isWatched = useIsWatched()
  const now = feed?.now.value
  const newest = now?.state === 'ready' ? now.entries[0] : undefined
  const isUnread = conversation !== null && (conversation.unread_count ?? 0) > 0
  useEffect(() => {
    if (!isWatched || !isUnread || newest === undefined) return
    const params = { id: newest.conversation_id }
    const call = { params, body: { message_id: newest.id } }
    void api.call('markConversationRead', call).then(onChanged)
  }, [isWatched, isUnread, newest?.id])
}

/** Returns whether the page is visible and has the focus. */
function useIsWatched(): boolean {
  const isWatched = useSignal(document.hasFocus())
  useEffect(() => {
    const end = new AbortController()
    const update = () => (isWatched.value = !document.hidden && document.hasFocus())
    for (const name of ['focus', 'blur', 'visibilitychange']) {
      window.addEventListener(name, update, { signal: end.signal })
    }
    return () => end.abort()
  }, [])
  return isWatched.value
}

/** Newest first. With `around`, the first page is around that message. */
function messageSource(
  api: Api,
  conversationId: string,
  around: string | null,
): FeedSource<Message> {
  const query = { conversation_id: conversationId }
  return {
    page: (cursor, limit, signal) => {
      const place = cursor === null ? { around } : { cursor }
      return api.call('listMessages', { query: { ...query, ...place, limit }, signal })
    },
    entry: (id, signal) => api.call('getMessage', { params: { id }, signal }),
    idIn: ({ id, conversation_id }) => (conversation_id === conversationId ? id : null),
    countMax: MESSAGES_MAX,
  }
}

function NoConversation() {
  return (
    <EmptyState
      icon="search"
      title="Conversation not found"
      action={<LinkButton href={href('conversations')}>{CONVERSATIONS.all}</LinkButton>}
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
  const { message: _message, ...filter } = router.route.value.query
  const back = href('conversations', [], filter)
  return (
    <header class="thread-head">
      <span class="thread-back">
        <LinkButton variant="quiet" icon="back" isIconOnly href={back}>
          {CONVERSATIONS.all}
        </LinkButton>
      </span>
      {conversation === null ? (
        <span class="face" />
      ) : (
        <Face
          handle={conversation.handle}
          name={conversation.contact_name}
          isGroup={isGroup(conversation)}
        />
      )}
      <div class="grow">
        <h2 class="one-line" aria-hidden={conversation === null}>
          <PersonText>
            {conversation === null ? '\u00A0' : conversationName(conversation)}
          </PersonText>
        </h2>
        <p class="row small quiet thread-line">
          {conversation?.contact_name !== undefined && (
            <PersonText>{numberWords(conversation.handle)}</PersonText>
          )}
          {conversation !== null && (
            <span>
              {'via '}
              <PersonText>
                {line === null ? numberWords(conversation.phone_number) : lineName(line)}
              </PersonText>
            </span>
          )}
          <ThreadMarks {...{ conversation, line }} />
          {conversation !== null && isGroup(conversation) && (
            <Participants conversation={conversation} />
          )}
        </p>
      </div>
      {conversation !== null && (
        <>
          <Takeover {...{ conversation, onChanged }} />
          <ThreadMenu {...{ conversation, onChanged }} />
        </>
      )}
    </header>
  )
}

type Scroller = RefObject<HTMLDivElement | null>

/** `scrollTop` counts from the end here, so older messages added above don't move the view. */
const showEnd = (scroller: Scroller) => scroller.current?.scrollTo({ top: 0 })

type ListProps = Pick<PartsProps, 'feed' | 'conversation' | 'isLatest' | 'showLatest'> & {
  readonly scroller: Scroller
}

/** The messages, oldest first, scrolled to the end. Scrolling up loads older ones. */
function MessageList({ feed, conversation, isLatest, showLatest, scroller }: ListProps) {
  const now = feed.now.value
  const isAtEnd = useSignal(true)
  const messages = now.state === 'ready' ? now.entries : []
  useAnnouncements(messages, conversation === null ? 'them' : conversationName(conversation))
  if (now.state === 'failed') {
    return (
      <div class="messages-note">
        <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
      </div>
    )
  }
  return (
    <div class="messages-frame">
      <div
        class="messages"
        ref={scroller}
        // Lets the keyboard scroll.
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
      {(!isAtEnd.value || !isLatest) && (
        <div class="messages-jump">
          <Button icon="down" onClick={isLatest ? () => showEnd(scroller) : showLatest}>
            Jump to latest
          </Button>
        </div>
      )}
    </div>
  )
}

/** Announces incoming messages while the conversation is open, together if they arrive in one update. */
function useAnnouncements(messages: readonly Message[], name: string): void {
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
    notices.announce(`${countWords(count, 'new message')} from ${name}`)
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
          Older messages aren't shown here. Export the conversation to read them.
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
  const places = placesOf(ordered, dayOf)
  return (
    <ol class="bubbles">
      {ordered.map((message, index) => {
        const day = dayOf(message)
        const place = places[index]
        return (
          <li key={message.id} class={place?.isFirst === false ? 'bubble-follows' : undefined}>
            {day !== dayOf(ordered[index - 1]) && <p class="day">{day}</p>}
            <Bubble message={message} onChanged={onChanged} place={place} />
          </li>
        )
      })}
    </ol>
  )
}
