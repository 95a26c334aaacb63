// One conversation: its head, its messages, and the box to answer in.

import { href } from '../address.ts'
import { Badge } from '../components/badge.tsx'
import { LinkButton } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { PersonText } from '../components/person-text.tsx'
import { Switch } from '../components/switch.tsx'
import { useFeed } from '../components/use-feed.ts'
import { messageSource } from '../conversation-feeds.ts'
import { useDashboard, useLive } from '../dashboard.ts'
import { lineName, lineStatusWords } from '../line-words.ts'
import type { Conversation, PhoneLine } from '../resources.ts'
import { Composer } from './composer.tsx'
import { MessageList } from './message-list.tsx'

type Props = { readonly id: string; readonly lines: readonly PhoneLine[] }

export function Thread({ id, lines }: Props) {
  const { api } = useDashboard()
  const feed = useFeed(id, messageSource(api, id))
  const { now, refresh } = useLive({
    key: `conversation ${id}`,
    load: (signal) => api.get<Conversation>(`conversations/${encodeURIComponent(id)}`, signal),
    on: (change) => change.id === id,
  })
  if (now.state === 'failed') {
    if (now.failure.status === 404) return <Unknown />
    return <FailureNote failure={now.failure} onRetry={refresh} />
  }
  const conversation = now.state === 'ready' ? now.value : null
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
        <h2 class="one-line">
          <PersonText>{conversation?.handle ?? '\u00A0'}</PersonText>
        </h2>
        <p class="row small quiet thread-line">
          {conversation !== null && (
            <span>
              by{' '}
              <PersonText>{line === null ? conversation.phone_number : lineName(line)}</PersonText>
            </span>
          )}
          {line !== null && <LineTrouble line={line} />}
        </p>
      </div>
      {conversation !== null && <WhoAnswers conversation={conversation} onChanged={onChanged} />}
    </header>
  )
}

function LineTrouble({ line }: { readonly line: PhoneLine }) {
  const { text, tone, icon } = lineStatusWords(line)
  if (tone === 'ok') return null
  return (
    <Badge tone={tone} icon={icon}>
      {text}
    </Badge>
  )
}

function WhoAnswers({
  conversation,
  onChanged,
}: {
  readonly conversation: Conversation
  readonly onChanged: () => void
}) {
  const { api, notices } = useDashboard()
  async function change(isOn: boolean) {
    const body = { automation_paused: isOn }
    const answer = await api.patch<Conversation>(`conversations/${conversation.id}`, body)
    if (!answer.ok) return notices.failed(answer.failure.message)
    onChanged()
    notices.done(isOn ? 'Programs are asked to leave this to you.' : 'Programs may answer again.')
  }
  return (
    <Switch
      label="A person answers"
      isOn={conversation.automation_paused}
      onChange={(isOn) => void change(isOn)}
    />
  )
}

function Unknown() {
  return (
    <EmptyState
      icon="search"
      title="There is no such conversation"
      action={<LinkButton href={href('conversations')}>All conversations</LinkButton>}
    >
      <p>Its messages may have been deleted when they were old enough.</p>
    </EmptyState>
  )
}
