// The marks of a whole conversation, and what can be done with it: name its person, export it, print it.

import { useSignal } from '@preact/signals'
import { render, type VNode } from 'preact'
import { useRef } from 'preact/hooks'

import { withQuery } from '../address.ts'
import type { Answer, Api } from '../api.ts'
import { Button } from '../components/button.tsx'
import { Badge, Icon } from '../components/icon.tsx'
import { lazyDialog } from '../components/lazy-page.tsx'
import { PersonText } from '../components/text.tsx'
import { useAction } from '../components/use-action.ts'
import { useDashboard } from '../dashboard.ts'
import { useDownload } from '../downloads.ts'
import { numberWords } from '../numbers.ts'
import { conversationName, isGroup, personName } from '../people.ts'
import type { Conversation, Message, Page, PhoneLine } from '../resources.ts'
import { clockTime, dayWords } from '../time-words.ts'
import { CONVERSATIONS } from '../words/conversations.ts'
import { isReady, lineState } from '../words/line-states.ts'
import { PEOPLE } from '../words/people.ts'

const CONTACT = lazyDialog(async () => (await import('./contact-form.tsx')).ContactDialog)

type MarkProps = {
  readonly conversation: Conversation | null
  readonly line: PhoneLine | null
}

export function ThreadMarks({ conversation, line }: MarkProps) {
  return (
    <>
      {line !== null && !isReady(line) && <Badge of={lineState(line)} />}
      {conversation?.opted_out && <Badge of={CONVERSATIONS.optedOut} />}
    </>
  )
}

type Props = { readonly conversation: Conversation; readonly onChanged: () => void }

export function ThreadMenu({ conversation, onChanged }: Props) {
  const { session } = useDashboard()
  const isOwner = session.now.value?.member === undefined
  const { handle, contact_name } = conversation
  const menu = useRef<HTMLDetailsElement>(null)
  const isNaming = useSignal(false)
  const isKnown = contact_name !== undefined
  const close = () => {
    menu.current?.removeAttribute('open')
    menu.current?.querySelector('summary')?.focus()
  }
  const name = () => {
    close()
    isNaming.value = true
  }
  return (
    <>
      <details
        class="menu"
        ref={menu}
        onFocusOut={({ currentTarget, relatedTarget }) => {
          const isInside = relatedTarget instanceof Node && currentTarget.contains(relatedTarget)
          if (relatedTarget !== null && !isInside) currentTarget.open = false
        }}
        onKeyDown={({ key }) => {
          if (key === 'Escape') close()
        }}
      >
        <summary class="button button-quiet button-icon" title={CONVERSATIONS.more}>
          <Icon name="more" />
          <span class="visually-hidden">{CONVERSATIONS.more}</span>
        </summary>
        {/* Takes the focus where a click gives it to no button, as in Safari. */}
        <div class="menu-items" tabIndex={-1}>
          {isOwner && !isGroup(conversation) && (
            <Button look="quiet" icon="person" onClick={name}>
              {isKnown ? PEOPLE.edit : PEOPLE.add}
            </Button>
          )}
          {isOwner && <ExportButton conversation={conversation} format="csv" />}
          {isOwner && <ExportButton conversation={conversation} format="json" />}
          <PrintButton conversation={conversation} />
        </div>
      </details>
      {isNaming.value && (
        <CONTACT.View
          {...{ handle, isKnown, onChanged }}
          onClose={() => (isNaming.value = false)}
        />
      )}
    </>
  )
}

type ExportProps = { readonly conversation: Conversation; readonly format: 'csv' | 'json' }

function ExportButton({ conversation, format }: ExportProps) {
  const path = `conversations/${conversation.id}/export?format=${format}`
  const name = `${conversationName(conversation)}.${format}`
  const { isBusy, start } = useDownload(path, name)
  return (
    <Button look="quiet" icon="download" isBusy={isBusy} onClick={start}>
      {format === 'csv' ? CONVERSATIONS.exportCsv : CONVERSATIONS.exportJson}
    </Button>
  )
}

/** All its messages, oldest first, in pages of the longest kind. */
async function allMessages(api: Api, id: string): Promise<Answer<readonly Message[]>> {
  const all: Message[] = []
  for (let cursor: string | null = null; ;) {
    const path = withQuery('messages', { conversation_id: id, limit: 200, cursor })
    const answer: Answer<Page<Message>> = await api.get(path)
    if (!answer.ok) return answer
    all.push(...answer.value.data)
    cursor = answer.value.next_cursor
    if (cursor === null) return { ok: true, value: all.toReversed() }
  }
}

function PrintButton({ conversation }: Pick<Props, 'conversation'>) {
  const { api, clock, notices } = useDashboard()
  const { isBusy, start } = useAction(
    () => allMessages(api, conversation.id),
    (messages) => print(<PrintSheet {...{ conversation, messages }} now={clock.time()} />),
    (failure) => notices.failed(failure.message),
  )
  return (
    <Button look="quiet" icon="document" isBusy={isBusy} onClick={start}>
      {isBusy ? CONVERSATIONS.printing : CONVERSATIONS.print}
    </Button>
  )
}

/** Prints the sheet in the place of the page. */
function print(sheet: VNode): void {
  const root = document.createElement('div')
  root.className = 'print-root'
  document.body.append(root)
  render(sheet, root)
  // Some browsers go on before the paper is there.
  const remove = () => {
    render(null, root)
    root.remove()
  }
  window.addEventListener('afterprint', remove, { once: true })
  window.print()
}

type SheetProps = {
  readonly conversation: Conversation
  readonly messages: readonly Message[]
  readonly now: number
}

function PrintSheet({ conversation, messages, now }: SheetProps) {
  const days = Map.groupBy(messages, (each) => dayWords(each.created_at, now))
  const name = conversationName(conversation)
  return (
    <>
      <h1>
        <PersonText>{name}</PersonText>
      </h1>
      <p>{[conversation.handle, conversation.phone_number].map(numberWords).join(' · ')}</p>
      {[...days].map(([day, those]) => (
        <section key={day}>
          <h2>{day}</h2>
          <dl>
            {those.map((message) => (
              <PrintedMessage key={message.id} message={message} name={name} />
            ))}
          </dl>
        </section>
      ))}
    </>
  )
}

function PrintedMessage({ message, name }: { readonly message: Message; readonly name: string }) {
  const { direction, sender, created_at, text, attachments = [] } = message
  const writer = sender ? personName(sender) : name
  return (
    <div>
      <dt>
        {clockTime(created_at)}{' '}
        <PersonText>{direction === 'outbound' ? CONVERSATIONS.you : writer}</PersonText>
      </dt>
      <dd>
        <PersonText>{text}</PersonText>
        {attachments.map(({ id, filename }) => (
          <p key={id}>
            <PersonText>{filename}</PersonText>
          </p>
        ))}
      </dd>
    </div>
  )
}
