// One conversation: its head, its messages, and the box to answer in. Where another line took it over,
// the page follows.

import { useEffect } from 'preact/hooks'

import { href } from '../address.ts'
import { Badge } from '../components/badge.tsx'
import { LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Switch } from '../components/switch.tsx'
import { useAction } from '../components/use-action.ts'
import { useFeed } from '../components/use-feed.ts'
import { messageSource } from '../conversation-feeds.ts'
import { useDashboard, useRead } from '../dashboard.ts'
import { isReady, lineName, lineState } from '../line-words.ts'
import type { Conversation, PhoneLine } from '../resources.ts'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'

type Props = { readonly id: string; readonly lines: readonly PhoneLine[] }

export function Thread({ id, lines }: Props) {
  const { api, router } = useDashboard()
  const feed = useFeed(id, messageSource(api, id))
  const path = `conversations/${encodeURIComponent(id)}`
  const { now, value: conversation, refresh } = useRead<Conversation>(path, id)
  const movedTo = conversation?.moved_to
  useEffect(() => {
    const { query } = router.route.value
    if (movedTo !== undefined) router.replace(href('conversations', [movedTo], query))
  }, [movedTo, router])
  if (now.state === 'failed') {
    if (now.failure.status === 404) return <Unknown />
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
        <Composer conversation={conversation} line={line} onSent={(sent) => feed.take(sent)} />
      )}
    </div>
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
  return (
    <header class="thread-head">
      <span class="thread-back">
        <LinkButton
          look="quiet"
          icon="back"
          isIconOnly
          href={href('conversations', [], { line: filter })}
        >
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
              by{' '}
              <PersonText>{line === null ? conversation.phone_number : lineName(line)}</PersonText>
            </span>
          )}
          {line !== null && !isReady(line) && <Badge of={lineState(line)} />}
        </p>
      </div>
      {conversation !== null && <WhoAnswers conversation={conversation} onChanged={onChanged} />}
    </header>
  )
}

type WhoProps = { readonly conversation: Conversation; readonly onChanged: () => void }

function WhoAnswers({ conversation, onChanged }: WhoProps) {
  const { id, automation_paused } = conversation
  const { api, notices } = useDashboard()
  const { start } = useAction(
    (isOn: boolean) => api.patch<Conversation>(`conversations/${id}`, { automation_paused: isOn }),
    (changed) => {
      onChanged()
      notices.done(
        changed.automation_paused
          ? 'Programs are asked to leave this to you.'
          : 'Programs may answer again.',
      )
    },
    (failure) => notices.failed(failure.message),
  )
  return <Switch label="A person answers" isOn={automation_paused} onChange={start} />
}

function Unknown() {
  return (
    <EmptyState
      icon="search"
      title="There is no such conversation"
      action={<LinkButton href={href('conversations')}>All conversations</LinkButton>}
    >
      Its messages may have been deleted when they were old enough.
    </EmptyState>
  )
}
