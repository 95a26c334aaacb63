// The list of conversations on the left, and one of them on the right; on a phone, only one of the two.

import { useSignal } from '@preact/signals'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'

import type { SearchResult } from '../../api/contacts.ts'
import type { Conversation, Message } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { href } from '../address.ts'
import type { Api } from '../api.ts'
import { Button } from '../components/button.tsx'
import { FailureNote } from '../components/callout.tsx'
import { Chips, FilterFold, SelectField, useSettled, bindTo } from '../components/form.tsx'
import { lazyPage } from '../components/lazy-page.tsx'
import { Dialog } from '../components/modal.tsx'
import { EmptyState, Skeleton } from '../components/when-ready.tsx'
import { WindowList } from '../components/window-list.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { HEAD_MAX, type Feed, type FeedNow, type FeedSource } from '../feed.ts'
import { useFocusRescue } from '../focus.ts'
import { numberWords, typedHandle } from '../numbers.ts'
import { isWhole } from '../outbox.ts'
import { isGroup } from '../people.ts'
import { useLines, useSite } from '../sources.ts'
import type { Loaded, Read } from '../store.ts'
import { useFeed } from '../use-feed.ts'
import { CONVERSATIONS } from '../words/conversations.ts'
import { lineNameIn, lineOption } from '../words/line-states.ts'
import { SendButton } from './composer.tsx'
import { ConversationRow } from './conversation-row.tsx'
import { NotifyButton } from './notify.tsx'
import { SendFields, useSendForm } from './send-form.tsx'
import { SiteFilter } from './site-filter.tsx'

const THREAD = lazyPage(null, async () => (await import('./thread.tsx')).Thread)

export function ConversationsPage() {
  const { router } = useDashboard()
  const [id] = router.route.value.path
  const lines = useLines().value?.data ?? []
  /** The recipient in the form for a new conversation; null while it is closed. */
  const writing = useSignal<string | null>(null)
  const write = (to = '') => (writing.value = to)
  const { write: asked, ...query } = router.route.value.query
  // Other pages lead here to write.
  useLayoutEffect(() => {
    if (asked === undefined) return
    router.replace(href('conversations', [], query))
    write(asked === 'new' ? '' : asked)
  }, [asked])
  const heading = useRef<HTMLHeadingElement>(null)
  const pane = useRef<HTMLElement>(null)
  useFocusRescue(id === undefined ? heading : pane, id)
  const isWritten = useRef(false)
  useLayoutEffect(() => {
    // The form's button is gone once the new conversation opens; the composer is in the pane.
    if (isWritten.current) pane.current?.focus({ preventScroll: true })
    isWritten.current = false
  }, [id])
  const open = ({ conversation_id }: Message) => {
    isWritten.current = conversation_id !== id
    writing.value = null
    router.go(href('conversations', [conversation_id]))
  }
  const create = (
    <Button icon="plus" onClick={() => write()}>
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
          <THREAD.View key={id} id={id} lines={lines} />
        )}
      </section>
      {writing.value !== null && (
        <NewConversation
          to={writing.value}
          lines={lines}
          onSent={open}
          onClose={() => (writing.value = null)}
        />
      )}
    </div>
  )
}

function NewConversation(props: {
  readonly to: string
  readonly lines: readonly PhoneLine[]
  readonly onSent: (message: Message) => void
  readonly onClose: () => void
}) {
  const form = useSendForm(props.onSent, props.to)
  return (
    <Dialog
      title="New conversation"
      onClose={props.onClose}
      onSubmit={form.submit}
      actions={<SendButton {...form.button} />}
    >
      <SendFields form={form} lines={props.lines} isFirst />
    </Dialog>
  )
}

type PaneProps = {
  readonly lines: readonly PhoneLine[]
  readonly selected: string | null
  readonly onWrite: (to?: string) => void
}

function ConversationPane({ lines: all, selected, onWrite }: PaneProps) {
  const { router } = useDashboard()
  const site = useSite()
  const lines = all.filter(({ site_id }) => site === '' || site_id === site)
  const { line = '', type = '', state = '', q = '' } = router.route.value.query
  const typed = useSignal(q)
  // A search may lead here while the list is shown.
  useLayoutEffect(() => void (typed.value = q), [q])
  const filter = { site, line, type, state }
  const path = selected === null ? [] : [selected]
  const show = (change: Partial<Filter>) =>
    router.replace(href('conversations', path, { ...filter, ...change }))
  return (
    <section class="conversation-pane" aria-label={CONVERSATIONS.all}>
      <div class="conversation-head">
        <p class="pane-title" aria-hidden="true">
          Conversations
        </p>
        <NotifyButton />
        <Button variant="main" icon="plus" isIconOnly onClick={() => onWrite()}>
          New conversation
        </Button>
      </div>
      <div class="conversation-filters">
        <input
          class="input"
          type="search"
          aria-label="Search by name, number, email or group"
          placeholder="Find in the list"
          value={typed.value}
          onInput={(event) => (typed.value = event.currentTarget.value)}
        />
        <FilterFold of={Object.values(filter)} class="conversation-fold">
          <SiteFilter page="conversations" />
          {lines.length > 1 && (
            <SelectField
              label="Line"
              isLabelHidden
              bind={bindTo(line, (id) => show({ line: id }))}
              options={[{ value: '', text: 'All lines' }, ...lines.map(lineOption)]}
            />
          )}
          <StateChips {...{ filter, lines, show }} />
        </FilterFold>
      </div>
      <ConversationList
        key={Object.values(filter).join(' ')}
        typed={typed.value.trim()}
        {...{ filter, lines, selected, onWrite }}
      />
    </section>
  )
}

/** The ids of a site and a line, a type and a state to show; empty for all. */
type Filter = Readonly<Record<'site' | 'line' | 'type' | 'state', string>>

type ChipsProps = Pick<PaneProps, 'lines'> & {
  readonly filter: Filter
  readonly show: (change: Partial<Filter>) => void
}

function StateChips({ filter, lines, show }: ChipsProps) {
  const { state, type } = filter
  const isOfAll = filter.site === '' && filter.line === ''
  const unread = useRead('countUnread', {}, 'conversation').value?.count
  const chip = (name: 'state' | 'type', value: string, text: string) => {
    const isOn = filter[name] === value
    return { text, isOn, onPress: () => show({ [name]: isOn ? '' : value }) }
  }
  const hasGroups = type !== '' || lines.some(({ relay_groups }) => relay_groups)
  const all = {
    text: 'All',
    isOn: state === '' && type === '',
    onPress: () => show({ state: '', type: '' }),
  }
  return (
    <Chips
      label="Show"
      of={[
        all,
        { ...chip('state', 'unread', 'Unread'), count: isOfAll ? unread : 0 },
        chip('state', 'unanswered', 'Unanswered'),
        ...(hasGroups ? [chip('type', 'group', 'Groups')] : []),
      ]}
    />
  )
}

type ListProps = PaneProps & {
  readonly filter: Filter
  /** Words of a name, or part of a number. */
  readonly typed: string
}

function ConversationList({ filter, typed, lines, selected, onWrite }: ListProps) {
  const { api } = useDashboard()
  const feed = useFeed(Object.values(filter).join(' '), conversationSource(api, filter))
  const isSearch = typed !== ''
  useSelected(feed, selected)
  const found = useFound(typed, filter.site)
  const now = isSearch ? foundOf(found.now) : feed.now.value
  if (now.state === 'failed') {
    const again = isSearch ? found.refresh : () => feed.refresh()
    return <FailureNote failure={now.failure} onRetry={again} />
  }
  if (now.state === 'loading') return <Skeleton kind="row" count={8} />
  // The open conversation stays listed even if it no longer fits because it was read.
  const isHere = ({ phone_line_id: id }: Conversation) =>
    filter.site === '' || lines.length === 0 || lines.some((line) => line.id === id)
  const rows = now.entries.filter(
    (each) => each.id === selected || (isHere(each) && fits(each, filter)),
  )
  if (rows.length === 0) {
    const isFiltered = [typed, ...Object.values(filter)].some((value) => value !== '')
    if (!isFiltered) return <NoConversations lines={lines} />
    return <NothingFound typed={typed} lines={lines} onWrite={onWrite} />
  }
  return (
    <WindowList
      key={typed}
      label="Conversations"
      rowHeight={76}
      rows={rows}
      count={now.nextCursor === null ? rows.length : -1}
      onNearEnd={() => {
        if (!isSearch) void feed.readMore()
      }}
      selected={selected}
      render={(conversation, tabIndex) => (
        <ConversationRow
          tabIndex={tabIndex}
          conversation={conversation}
          line={lines.length > 1 && filter.line === '' ? lineNameIn(lines, conversation) : null}
          href={href('conversations', [conversation.id], filter)}
          isSelected={conversation.id === selected}
        />
      )}
    />
  )
}

/** The open conversation is looked for among this many. */
const FIND_MAX = 3_000

/** Reads the list until it has the conversation that an address leads to. */
function useSelected(feed: Feed<Conversation>, selected: string | null): void {
  const now = feed.now.value
  useEffect(() => {
    if (selected === null || now.state !== 'ready' || now.entries.length >= FIND_MAX) return
    if (!now.entries.some(({ id }) => id === selected)) void feed.readMore(HEAD_MAX)
  }, [now, selected])
}

/** Search results as a complete list. */
function foundOf(now: Loaded<SearchResult>): FeedNow<Conversation> {
  if (now.state !== 'ready') return now
  return { state: 'ready', entries: now.value.conversations, nextCursor: null }
}

function conversationSource(
  api: Api,
  { site, line, type, state }: Filter,
): FeedSource<Conversation> {
  const states = state === '' ? {} : { [state]: 'true' }
  const query = { site_id: site, phone_line_id: line, type: type === '' ? 'all' : type, ...states }
  return {
    page: (cursor, limit, signal) =>
      api.call('listConversations', { query: { ...query, cursor, limit }, signal }),
    // A conversation that moved to another line is listed only under its new id.
    entry: async (id, signal) => {
      const answer = await api.call('getConversation', { params: { id }, signal })
      if (!answer.ok || answer.value.moved_to === undefined) return answer
      const failure = { code: 'not_found', message: '', status: 404, details: {} }
      return { ok: false, failure: { ...failure, retryAfterSeconds: null } }
    },
    idIn: ({ what, id, conversation_id = null }) =>
      what === 'conversation' ? id : conversation_id,
    movesUp: (fresh, old) => fresh.updated_at > old.updated_at,
    countMax: 20_000,
  }
}

/** Searches once typing has paused. */
function useFound(typed: string, site_id: string): Read<SearchResult> {
  const settled = useSettled(typed)
  const call =
    typed === '' || settled !== typed ? null : { query: { q: typed, limit: 50, site_id } }
  return useRead('search', call, 'conversation')
}

function fits(conversation: Conversation, { line, type, state }: Filter): boolean {
  const { phone_line_id, unread_count = 0, is_unanswered = false } = conversation
  if (line !== '' && line !== phone_line_id) return false
  if (type !== '' && isGroup(conversation) !== (type === 'group')) return false
  return state === '' || (state === 'unread' ? unread_count > 0 : is_unanswered)
}

function NothingFound({ typed, lines, onWrite }: Omit<ListProps, 'filter' | 'selected'>) {
  const handle = typedHandle(typed, lines)
  const write = isWhole(handle) && (
    <Button onClick={() => onWrite(handle)}>{`Write to ${numberWords(handle)}`}</Button>
  )
  return (
    <EmptyState icon="search" title="No results" action={write}>
      Try another name, a part of the number, or fewer filters.
    </EmptyState>
  )
}

function NoConversations({ lines }: { readonly lines: readonly PhoneLine[] }) {
  const [line] = lines
  const start = line
    ? `Text ${numberWords(line.phone_number)} from a phone`
    : 'Start a conversation'
  return (
    <EmptyState icon="conversations" title="No messages yet">
      {`${start}, or write the first message from here.`}
    </EmptyState>
  )
}
