// The messages of a conversation, oldest first, with the view at the end: new ones push the others up
// there, and older ones are loaded when one scrolls to the top.

import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'

import { grouped } from '../../domain/number-words.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { NearView } from '../components/near-view.tsx'
import { MESSAGES_MAX } from '../conversation-feeds.ts'
import { useDashboard } from '../dashboard.ts'
import type { Feed } from '../feed.ts'
import type { Message } from '../resources.ts'
import { dayWords } from '../time-words.ts'
import { Bubble } from './bubble.tsx'

type Props = {
  readonly feed: Feed<Message>
  readonly handle: string | null
}

/** How far from the end one still counts as reading the latest, in pixels. */
const END_PX = 60

export function MessageList({ feed, handle }: Props) {
  const now = feed.now.value
  const scroller = useRef<HTMLDivElement>(null)
  const isAtEnd = useSignal(true)
  const messages = now.state === 'ready' ? now.entries : []
  useNewsAloud(messages, handle)
  if (now.state === 'failed') {
    return (
      <div class="messages-note">
        <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
      </div>
    )
  }
  // The scroller counts from its end, which therefore stays where it is whatever comes above.
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
          {now.state === 'loading' && <Waiting />}
          <Days messages={messages} onChanged={(message) => feed.take(message)} />
        </div>
      </div>
      {!isAtEnd.value && (
        <div class="messages-jump">
          <Button icon="down" onClick={() => scroller.current?.scrollTo({ top: 0 })}>
            To the latest
          </Button>
        </div>
      )}
    </div>
  )
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
          Older messages are not shown here; the API has them all.
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
      {ordered.map((message, place) => {
        const before = ordered[place - 1]
        const day = dayOf(message)
        return (
          <li key={message.id} class={isSameSide(message, before) ? 'bubble-follows' : undefined}>
            {day !== dayOf(before) && <p class="day">{day}</p>}
            <Bubble message={message} onChanged={onChanged} />
          </li>
        )
      })}
    </ol>
  )
}

function isSameSide(message: Message, before: Message | undefined): boolean {
  return before !== undefined && before.direction === message.direction
}

function Waiting() {
  return (
    <div class="bubbles-waiting" aria-hidden="true">
      <span class="skeleton" />
      <span class="skeleton" />
      <span class="skeleton" />
    </div>
  )
}

/** Tells of messages that arrive while the conversation is open, all that came together in one word. */
function useNewsAloud(messages: readonly Message[], handle: string | null): void {
  const { notices } = useDashboard()
  const newest = useRef<string | null>(null)
  useEffect(() => {
    const before = newest.current
    newest.current = messages[0]?.id ?? before
    const place = messages.findIndex(({ id }) => id === before)
    const news = messages.slice(0, Math.max(place, 0)).filter(isInbound)
    if (news.length === 0) return
    const what = news.length === 1 ? 'A new message' : `${grouped(news.length)} new messages`
    notices.say(`${what} from ${handle ?? 'them'}`)
  }, [messages])
}

function isInbound({ direction }: Message): boolean {
  return direction === 'inbound'
}
