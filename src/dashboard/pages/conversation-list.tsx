// All conversations, by latest message; of one line or with one person where that is asked for.

import { useSignal } from '@preact/signals'

import { href } from '../address.ts'
import type { List } from '../api.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { EmptyState } from '../components/empty-state.tsx'
import { Skeleton } from '../components/skeleton.tsx'
import { useFeed } from '../components/use-feed.ts'
import { useSettled } from '../components/use-settled.ts'
import { ReadFailure } from '../components/when-ready.tsx'
import { WindowList } from '../components/window-list.tsx'
import { conversationSource } from '../conversation-feeds.ts'
import { useDashboard } from '../dashboard.ts'
import { isWhole, tidyHandle } from '../handles.ts'
import { lineName } from '../line-words.ts'
import type { Conversation, PhoneLine } from '../resources.ts'
import { useConversationsWith } from '../sources.ts'
import type { Read } from '../store.ts'
import { ConversationRow } from './conversation-row.tsx'

type Props = {
  readonly lines: readonly PhoneLine[]
  readonly selected: string | null
  readonly onWrite: () => void
}

const ROW_HEIGHT = 76

export function ConversationList({ lines, selected, onWrite }: Props) {
  const { router } = useDashboard()
  const { line = '' } = router.route.value.query
  const typed = useSignal('')
  const path = selected === null ? [] : [selected]
  return (
    <section class="conversation-pane" aria-label="All conversations">
      <div class="conversation-head">
        <p class="pane-title" aria-hidden="true">
          Conversations
        </p>
        <Button look="main" icon="plus" isIconOnly onClick={onWrite}>
          New conversation
        </Button>
      </div>
      <div class="conversation-filters">
        <input
          class="input"
          type="search"
          aria-label="Find a number or an address"
          placeholder="Find a number"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        {lines.length > 1 && (
          <select
            class="input"
            aria-label="Line"
            value={line}
            onChange={(event) =>
              router.replace(href('conversations', path, { line: event.currentTarget.value }))
            }
          >
            <option value="">All lines</option>
            {lines.map((each) => (
              <option key={each.id} value={each.id}>
                {lineName(each)}
              </option>
            ))}
          </select>
        )}
      </div>
      <Found key={line} line={line} wanted={tidyHandle(typed.value)} {...{ lines, selected }} />
    </section>
  )
}

type FoundProps = Pick<Props, 'lines' | 'selected'> & {
  /** The id of the only line to show; empty for all. */
  readonly line: string
  /** A handle or a part of one. What is loaded is searched for parts, the relay for a whole one. */
  readonly wanted: string
}

function Found({ line, wanted, lines, selected }: FoundProps) {
  const { api } = useDashboard()
  const feed = useFeed(line, conversationSource(api, line === '' ? null : line))
  const told = useToldBy(wanted)
  const now = feed.now.value
  if (now.state === 'loading') return <Skeleton kind="row" count={8} />
  if (now.state === 'failed') {
    return <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
  }
  const isSearch = wanted !== ''
  const isAll = now.nextCursor === null
  const rows = isSearch ? rowsWith(wanted, ofLine(told.value, line), now.entries) : now.entries
  if (rows.length === 0) {
    if (told.now.state === 'failed') return <ReadFailure of={told} />
    return isSearch || line !== '' ? <NothingFound /> : <NoConversations lines={lines} />
  }
  return (
    <WindowList
      key={wanted}
      label="Conversations"
      rowHeight={ROW_HEIGHT}
      rows={rows}
      count={isAll ? rows.length : -1}
      // A search must not load all there is.
      onNearEnd={() => {
        if (!isSearch) void feed.readMore()
      }}
      render={(conversation) => (
        <ConversationRow
          conversation={conversation}
          line={lines.length > 1 ? lineOf(conversation, lines) : null}
          href={href('conversations', [conversation.id], { line })}
          isSelected={conversation.id === selected}
        />
      )}
      end={isSearch && !isAll ? <SearchEnd /> : undefined}
    />
  )
}

/** What the relay has of a whole handle, once it was typed. */
function useToldBy(wanted: string): Read<List<Conversation>> {
  const settled = useSettled(wanted)
  return useConversationsWith(isWhole(settled) && settled === wanted ? settled : '')
}

function ofLine(told: List<Conversation> | null, line: string): readonly Conversation[] {
  return (told?.data ?? []).filter((each) => line === '' || each.phone_line_id === line)
}

function rowsWith(
  part: string,
  told: readonly Conversation[],
  loaded: readonly Conversation[],
): readonly Conversation[] {
  const known = new Set(told.map(({ id }) => id))
  return [...told, ...loaded.filter(({ id, handle }) => handle.includes(part) && !known.has(id))]
}

function lineOf(conversation: Conversation, lines: readonly PhoneLine[]): string {
  const line = lines.find(({ id }) => id === conversation.phone_line_id)
  return line === undefined ? conversation.phone_number : lineName(line)
}

function SearchEnd() {
  return (
    <p class="list-end small quiet">
      Only the latest conversations were searched. A whole number finds older ones too.
    </p>
  )
}

function NothingFound() {
  return (
    <EmptyState icon="search" title="Nothing found">
      A whole number, with + and the country first, is looked for in all conversations.
    </EmptyState>
  )
}

function NoConversations({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const number = lines[0]?.phone_number
  return (
    <EmptyState icon="conversations" title="No messages yet">
      {number === undefined ? 'Begin a conversation' : `Send a text to ${number} from a phone`}, or
      write the first message from here.
    </EmptyState>
  )
}
