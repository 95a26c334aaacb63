// Search for people, conversations and messages; usable by keyboard alone.

import { useSignal, type Signal } from '@preact/signals'
import { useEffect, useId } from 'preact/hooks'

import type { SearchResult } from '../../api/contacts.ts'
import { href } from '../address.ts'
import { FailureNote } from '../components/callout.tsx'
import { useSettled } from '../components/form.tsx'
import { Icon } from '../components/icon.tsx'
import { useModal } from '../components/modal.tsx'
import { PersonText } from '../components/text.tsx'
import { Skeleton } from '../components/when-ready.tsx'
import { useDashboard, useRead } from '../dashboard.ts'
import { numberWords } from '../numbers.ts'
import { conversationName, counterpart } from '../people.ts'
import { shortTime } from '../time-words.ts'
import { countWords } from '../words/common.ts'

const GROUPS = { conversations: 'Conversations', people: 'People', messages: 'Messages' }

type Result = ReturnType<typeof resultsIn>[number]

type BoxProps = {
  /** The text of the field, with what was typed before this box was there. */
  readonly typed: Signal<string>
  readonly onClose: () => void
}

export function SearchBox({ typed, onClose }: BoxProps) {
  const { router } = useDashboard()
  const chosen = useSignal(0)
  const dialog = useModal(onClose)
  const listId = useId()
  const wanted = typed.value.trim()
  const { found, results } = useResults(wanted)
  const open = (result: Result | undefined) => {
    if (result === undefined) return
    onClose()
    router.go(result.href)
  }
  const idOf = (result: Result) => `${listId}-${results.indexOf(result)}`
  return (
    <dialog
      ref={dialog}
      class="dialog search-box"
      aria-label="Search people, conversations and messages"
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <SearchField {...{ typed, chosen, results, listId, open }} />
      <p class="visually-hidden" role="status">
        {found.value === null ? '' : countWords(results.length, 'result')}
      </p>
      <div class="search-results" id={listId} role="listbox" aria-label="Results">
        {Object.entries(GROUPS).map(([group, title]) => (
          <Group
            key={group}
            title={title}
            results={results.filter((each) => each.group === group)}
            isChosen={(result) => results[chosen.value] === result}
            idOf={idOf}
            onOpen={open}
          />
        ))}
      </div>
      <Note wanted={wanted} found={found} count={results.length} />
    </dialog>
  )
}

type FieldProps = {
  readonly typed: Signal<string>
  /** The index of the chosen result, which the arrow keys change. */
  readonly chosen: Signal<number>
  readonly results: readonly Result[]
  readonly listId: string
  readonly open: (result: Result | undefined) => void
}

function SearchField({ typed, chosen, results, listId, open }: FieldProps) {
  const active = `${listId}-${chosen.value}`
  const count = results.length
  useEffect(() => {
    document.getElementById(active)?.scrollIntoView({ block: 'nearest' })
  }, [active])
  const move = (by: number) => (chosen.value = (chosen.value + by + count) % Math.max(count, 1))
  return (
    <div class="search-field">
      <Icon name="search" />
      <input
        type="text"
        role="combobox"
        list={undefined}
        aria-label="Search people, conversations and messages"
        aria-expanded={count > 0}
        aria-controls={listId}
        aria-activedescendant={count > 0 ? active : undefined}
        placeholder="Name, number or words of a message"
        autoFocus
        dir="auto"
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value
          chosen.value = 0
        }}
        onKeyDown={(event) => {
          const { key, isComposing } = event
          if (isComposing || !['ArrowDown', 'ArrowUp', 'Enter'].includes(key)) return
          event.preventDefault()
          if (key === 'Enter') open(results[chosen.value])
          else move(key === 'ArrowDown' ? 1 : -1)
        }}
      />
    </div>
  )
}

type GroupProps = {
  readonly title: string
  readonly results: readonly Result[]
  readonly isChosen: (result: Result) => boolean
  readonly idOf: (result: Result) => string
  readonly onOpen: (result: Result) => void
}

function Group({ title, results, isChosen, idOf, onOpen }: GroupProps) {
  const { clock } = useDashboard()
  const id = useId()
  if (results.length === 0) return null
  return (
    <div role="group" aria-labelledby={id}>
      <p class="search-group small quiet" id={id}>
        {title}
      </p>
      {results.map((result) => (
        <div
          key={result.key}
          id={idOf(result)}
          role="option"
          class="search-result"
          aria-selected={isChosen(result)}
          onClick={() => onOpen(result)}
        >
          <Icon name={result.group === 'people' ? 'person' : 'conversations'} />
          <span class="grow">
            <span class="search-title">{result.title}</span>
            <span class="quiet">{result.text}</span>
          </span>
          {result.time !== null && (
            <time class="small quiet" dateTime={result.time}>
              {shortTime(result.time, clock.now.value)}
            </time>
          )}
        </div>
      ))}
    </div>
  )
}

type NoteProps = Pick<ReturnType<typeof useResults>, 'found'> & {
  readonly wanted: string
  readonly count: number
}

/** The state of the search, unless it is a list of results. */
function Note({ wanted, found, count }: NoteProps) {
  if (wanted === '') {
    return (
      <p class="search-note quiet">
        Type a name, a part of a number, or words of a message. Choose with the arrow keys and
        Enter.
      </p>
    )
  }
  if (found.now.state === 'failed') {
    return <FailureNote failure={found.now.failure} onRetry={found.refresh} />
  }
  if (found.value === null) return <Skeleton kind="row" count={3} />
  if (count === 0) {
    return (
      <p class="search-note">
        No results. <span class="quiet">Check the spelling, or try fewer letters.</span>
      </p>
    )
  }
  return found.value.is_complete ? null : (
    <p class="search-note small quiet">
      Older messages were not searched. A longer word finds more.
    </p>
  )
}

/** Searches once typing has paused. Results of earlier words are not shown. */
function useResults(wanted: string) {
  const settled = useSettled(wanted)
  const isSettled = wanted !== '' && settled === wanted
  const found = useRead('search', isSettled ? { query: { q: wanted, limit: 8 } } : null)
  const isOwner = useDashboard().session.member === undefined
  return { found, results: found.value === null ? [] : resultsIn(found.value, wanted, isOwner) }
}

function resultsIn(
  { people, conversations, messages }: SearchResult,
  wanted: string,
  isOwner: boolean,
) {
  const persons = people.map(({ handle, name }) => ({
    key: `p ${handle}`,
    // Members have no People page.
    href: isOwner ? href('people', [handle]) : href('conversations', [], { q: handle }),
    group: 'people' as const,
    title: marked(name, wanted),
    text: marked(numberWords(handle), wanted),
    time: null,
  }))
  const talks = conversations.map((each) => ({
    key: each.id,
    href: href('conversations', [each.id]),
    group: 'conversations' as const,
    title: marked(conversationName(each), wanted),
    text: <PersonText>{each.last_message?.text.slice(0, 120) ?? ''}</PersonText>,
    time: each.updated_at,
  }))
  const texts = messages.map(({ message, excerpt, conversation_id, contact_name }) => ({
    key: message.id,
    href: href('conversations', [conversation_id], { message: message.id }),
    group: 'messages' as const,
    title: <PersonText>{contact_name ?? counterpart(message)}</PersonText>,
    text: excerptOf(excerpt),
    time: message.created_at,
  }))
  return [...talks, ...persons, ...texts]
}

/** Marks the typed words in a name or number, whose digits may be grouped. */
function marked(text: string, wanted: string) {
  const words = wanted.split(/\s+/).map((word) => {
    const characters = Array.from(word, (each) => each.replace(/[\\^$.*+?()[\]{}|]/, '\\$&'))
    return /^[+\d]+$/.test(word) ? characters.join('[\\s-]?') : characters.join('')
  })
  const parts = text.split(new RegExp(`(${words.join('|')})`, 'giu'))
  return (
    <PersonText>
      {parts.map((part, place) => (place % 2 === 1 ? <mark>{part}</mark> : part))}
    </PersonText>
  )
}

/** Marks the found words in an excerpt. Ranges count code points. */
function excerptOf({ text, ranges }: SearchResult['messages'][number]['excerpt']) {
  const points = Array.from(text)
  const part = (from: number, to?: number) => points.slice(from, to).join('')
  const ends = ranges.map(({ offset, length }) => offset + length)
  const parts = ranges.flatMap(({ offset, length }, place) => [
    part(ends[place - 1] ?? 0, offset),
    <mark>{part(offset, offset + length)}</mark>,
  ])
  return <PersonText>{[...parts, part(ends.at(-1) ?? 0)]}</PersonText>
}
