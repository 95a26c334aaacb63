// The list of conversations on the left and one of them on the right; on a phone one of the two.

import { useSignal } from '@preact/signals'
import type { RefObject } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

import { href, withQuery } from '../address.ts'
import type { Api } from '../api.ts'
import { messageExcerpt } from '../attachment-words.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Dialog } from '../components/dialog.tsx'
import { useSettled } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { WindowList } from '../components/long-list.tsx'
import { PersonText } from '../components/text.tsx'
import { EmptyState, ReadFailure, Skeleton } from '../components/when-ready.tsx'
import { useDashboard, useFeed, useRead } from '../dashboard.ts'
import type { FeedSource } from '../feed.ts'
import { lineName } from '../line-words.ts'
import { statusWords } from '../message-words.ts'
import { isWhole, tidyHandle } from '../outbox.ts'
import { conversationName, isAbout, isGroup, personName } from '../people.ts'
import type { Conversation, Message, Page, PhoneLine } from '../resources.ts'
import { useLines } from '../sources.ts'
import type { Read } from '../store.ts'
import { absoluteTime, shortTime } from '../time-words.ts'
import { SendButton, SendFields, useSendForm } from './send-form.tsx'
import { Thread } from './thread.tsx'

const CONVERSATIONS_MAX = 20_000
const ROW_HEIGHT = 76
/** A row never shows more of a text. */
const ROW_TEXT_MAX = 160

export function ConversationsPage() {
  const { router } = useDashboard()
  const [id] = router.route.value.path
  const lines = useLines().value?.data ?? []
  const isWriting = useSignal(false)
  const write = () => (isWriting.value = true)
  const heading = useRef<HTMLHeadingElement>(null)
  const pane = useRef<HTMLElement>(null)
  useFocusRescue(id === undefined ? heading : pane, id)
  const create = (
    <Button icon="plus" onClick={write}>
      New conversation
    </Button>
  )
  return (
    <div class={`conversations ${id === undefined ? '' : 'has-thread'}`}>
      <h1 class="visually-hidden" tabIndex={-1} ref={heading}>
        Conversations
      </h1>
      <ConversationPane lines={lines} selected={id ?? null} onWrite={write} />
      <section class="thread-pane" aria-label="Conversation" tabIndex={-1} ref={pane}>
        {id === undefined ? (
          <EmptyState icon="conversations" title="No conversation selected" action={create}>
            Choose one from the list, or start a new one.
          </EmptyState>
        ) : (
          <Thread key={id} id={id} lines={lines} />
        )}
      </section>
      {isWriting.value && (
        <NewConversation lines={lines} onClose={() => (isWriting.value = false)} />
      )}
    </div>
  )
}

/** Restores the focus where `change` removed the element that had it: on a phone one pane hides the other. */
function useFocusRescue(target: RefObject<HTMLElement | null>, change: unknown): void {
  const before = useRef(change)
  useLayoutEffect(() => {
    const { activeElement, body } = document
    const isLost = activeElement === body || activeElement?.checkVisibility() !== true
    if (before.current !== change && isLost) target.current?.focus({ preventScroll: true })
    before.current = change
  }, [change])
}

type NewProps = { readonly lines: readonly PhoneLine[]; readonly onClose: () => void }

function NewConversation({ lines, onClose }: NewProps) {
  const { router } = useDashboard()
  const form = useSendForm((message) => {
    onClose()
    router.go(href('conversations', [message.conversation_id]))
  })
  return (
    <Dialog
      title="New conversation"
      onClose={onClose}
      onSubmit={form.submit}
      actions={<SendButton {...form.button} />}
    >
      <SendFields form={form} lines={lines} isFirst />
    </Dialog>
  )
}

type PaneProps = {
  readonly lines: readonly PhoneLine[]
  readonly selected: string | null
  readonly onWrite: () => void
}

function ConversationPane({ lines, selected, onWrite }: PaneProps) {
  const { router } = useDashboard()
  const { line = '', type = '' } = router.route.value.query
  const typed = useSignal('')
  const path = selected === null ? [] : [selected]
  const filter = (changes: Filter) =>
    router.replace(href('conversations', path, { line, type, ...changes }))
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
          aria-label="Search by number, email or group"
          placeholder="Search"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        {lines.some(({ relay_groups }) => relay_groups) && (
          <FilterChoice
            label="Kind of conversation"
            value={type}
            options={TYPES}
            onChange={(chosen) => filter({ type: chosen })}
          />
        )}
        {lines.length > 1 && (
          <FilterChoice
            label="Line"
            value={line}
            options={[
              ['', 'All lines'],
              ...lines.map((each) => [each.id, lineName(each)] as const),
            ]}
            onChange={(chosen) => filter({ line: chosen })}
          />
        )}
      </div>
      <ConversationList
        key={`${line} ${type}`}
        filter={{ line, type }}
        typed={typed.value}
        {...{ lines, selected }}
      />
    </section>
  )
}

/** The id of the only line to show, and the only kind; empty for all. */
type Filter = { readonly line?: string; readonly type?: string }

type Options = readonly (readonly [value: string, text: string])[]

const TYPES: Options = [
  ['', 'Everyone'],
  ['direct', 'People'],
  ['group', 'Groups'],
]

type ChoiceProps = {
  readonly label: string
  readonly value: string
  readonly options: Options
  readonly onChange: (value: string) => void
}

function FilterChoice({ label, value, options, onChange }: ChoiceProps) {
  return (
    <select
      class="input"
      aria-label={label}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map(([each, text]) => (
        <option key={each} value={each}>
          {text}
        </option>
      ))}
    </select>
  )
}

type ListProps = Pick<PaneProps, 'lines' | 'selected'> & {
  readonly filter: Required<Filter>
  /** A handle, searched in the relay, or a part of a name or handle, searched in the loaded rows. */
  readonly typed: string
}

function ConversationList({ filter, typed, lines, selected }: ListProps) {
  const { api } = useDashboard()
  const { line, type } = filter
  const wanted = tidyHandle(typed)
  const feed = useFeed(`${line} ${type}`, conversationSource(api, filter))
  const found = useConversationsWith(wanted)
  const now = feed.now.value
  if (now.state === 'loading') return <Skeleton kind="row" count={8} />
  if (now.state === 'failed') {
    return <FailureNote failure={now.failure} onRetry={() => feed.refresh()} />
  }
  const isSearch = wanted !== ''
  const isAll = now.nextCursor === null
  const rows = isSearch ? matching(typed, chosenOf(found.value, filter), now.entries) : now.entries
  if (rows.length === 0) {
    if (found.now.state === 'failed') return <ReadFailure of={found} />
    const isFiltered = isSearch || line !== '' || type !== ''
    return isFiltered ? <NothingFound /> : <NoConversations lines={lines} />
  }
  return (
    <WindowList
      key={wanted}
      label="Conversations"
      rowHeight={ROW_HEIGHT}
      rows={rows}
      count={isAll ? rows.length : -1}
      // A search must not load everything.
      onNearEnd={() => {
        if (!isSearch) void feed.readMore()
      }}
      render={(conversation) => (
        <ConversationRow
          conversation={conversation}
          line={lines.length > 1 ? lineOf(conversation, lines) : null}
          href={href('conversations', [conversation.id], { line, type })}
          isSelected={conversation.id === selected}
        />
      )}
      end={
        isSearch && !isAll ? (
          <p class="list-end small quiet">
            Only recent conversations were searched. Enter the full number to search all of them.
          </p>
        ) : undefined
      }
    />
  )
}

/** All conversations, or those of one line. */
function conversationSource(api: Api, { line, type }: Filter): FeedSource<Conversation> {
  const query = { phone_line_id: line, type: type === '' ? 'all' : type }
  return {
    page: (cursor, limit, signal) =>
      api.get(withQuery('conversations', { ...query, cursor, limit }), signal),
    // A conversation that moved to another line is listed under its new id only.
    entry: async (id, signal) => {
      const answer = await api.get<Conversation>(`conversations/${id}`, signal)
      if (!answer.ok || answer.value.moved_to === undefined) return answer
      const failure = { code: 'not_found', message: '', status: 404, details: {} }
      return { ok: false, failure: { ...failure, retryAfterSeconds: null } }
    },
    idIn: ({ what, id, conversation_id = null }) =>
      what === 'conversation' ? id : conversation_id,
    movesUp: (fresh, old) => fresh.updated_at > old.updated_at,
    countMax: CONVERSATIONS_MAX,
  }
}

/** The relay's conversations with a complete handle, one for each line, after typing has paused. */
function useConversationsWith(wanted: string): Read<Page<Conversation>> {
  const settled = useSettled(wanted)
  const handle = isWhole(settled) && settled === wanted ? settled : null
  const path = withQuery('conversations', { handle, limit: 200 })
  return useRead(handle === null ? null : path, 'conversation')
}

function chosenOf(found: Page<Conversation> | null, { line, type }: Filter) {
  if (type === 'group') return []
  return (found?.data ?? []).filter((each) => line === '' || each.phone_line_id === line)
}

function matching(
  typed: string,
  found: readonly Conversation[],
  loaded: readonly Conversation[],
): readonly Conversation[] {
  const known = new Set(found.map(({ id }) => id))
  return [...found, ...loaded.filter((each) => isAbout(each, typed) && !known.has(each.id))]
}

function lineOf(conversation: Conversation, lines: readonly PhoneLine[]): string {
  const line = lines.find(({ id }) => id === conversation.phone_line_id)
  return line === undefined ? conversation.phone_number : lineName(line)
}

function NothingFound() {
  return (
    <EmptyState icon="search" title="No results">
      To search all conversations, enter the full number with country code, e.g. +1 202 555 0123.
    </EmptyState>
  )
}

function NoConversations({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const number = lines[0]?.phone_number
  return (
    <EmptyState icon="conversations" title="No messages yet">
      {number === undefined ? 'Start a conversation' : `Text ${number} from a phone`}, or write the
      first message from here.
    </EmptyState>
  )
}

type RowProps = {
  readonly conversation: Conversation
  /** The name of its line, where there are several. */
  readonly line: string | null
  readonly href: string
  readonly isSelected: boolean
}

function ConversationRow({ conversation, line, href: address, isSelected }: RowProps) {
  const { clock } = useDashboard()
  const { last_message: last, updated_at } = conversation
  return (
    <a class="conversation-row" href={address} aria-current={isSelected ? 'true' : undefined}>
      <span class="conversation-top">
        <span class="one-line conversation-handle">
          {isGroup(conversation) && (
            <>
              <Icon name="people" />
              <span class="visually-hidden">Group: </span>
            </>
          )}
          <PersonText>{conversationName(conversation)}</PersonText>
        </span>
        {conversation.automation_paused && (
          <span class="conversation-person" title="Human takeover">
            <Icon name="person" />
            <span class="visually-hidden">Human takeover.</span>
          </span>
        )}
        <time class="small quiet" dateTime={updated_at} title={absoluteTime(updated_at)}>
          {shortTime(updated_at, clock.now.value)}
        </time>
      </span>
      <span class="conversation-bottom">
        {last !== null && <LastText message={last} />}
        {line !== null && (
          <span class="chip one-line">
            <PersonText>{line}</PersonText>
          </span>
        )}
      </span>
    </a>
  )
}

function LastText({ message }: { readonly message: Message }) {
  const { text, tone, icon } = statusWords(message.status)
  return (
    <>
      {message.direction === 'outbound' && (
        <span class={`conversation-status tone-${tone}`} title={text}>
          <Icon name={icon} />
          <span class="visually-hidden">{text}:</span>
        </span>
      )}
      <span class="one-line quiet conversation-text">
        {message.sender && (
          <>
            <PersonText>{personName(message.sender)}</PersonText>:{' '}
          </>
        )}
        {message.attachments !== undefined && <Icon name="attach" />}
        <PersonText>{messageExcerpt(message).slice(0, ROW_TEXT_MAX)}</PersonText>
      </span>
    </>
  )
}
