// Prints a conversation. This script loads only for printing.

import { render, type VNode } from 'preact'

import type { Conversation, Message } from '../../api/messages.ts'
import type { Answer, Api } from '../api.ts'
import { PersonText } from '../components/text.tsx'
import { numberWords } from '../numbers.ts'
import { conversationName, personName } from '../people.ts'
import { clockTime, dayWords } from '../time-words.ts'

/** Reads all messages, then prints them. `now` is in milliseconds since 1970. */
export async function printThread(
  api: Api,
  conversation: Conversation,
  now: number,
): Promise<Answer<unknown>> {
  const answer = await allMessages(api, conversation.id)
  if (answer.ok) print(<PrintSheet {...{ conversation, messages: answer.value, now }} />)
  return answer
}

/** Oldest first. */
async function allMessages(api: Api, id: string): Promise<Answer<readonly Message[]>> {
  const all: Message[] = []
  for (let cursor: string | null = null; ;) {
    const query: Record<string, string | number | null> = {
      conversation_id: id,
      limit: 200,
      cursor,
    }
    const answer = await api.call('listMessages', { query })
    if (!answer.ok) return answer
    all.push(...answer.value.data)
    cursor = answer.value.next_cursor
    if (cursor === null) return { ok: true, value: all.toReversed() }
  }
}

/** Prints the sheet instead of the page. */
function print(sheet: VNode): void {
  const root = document.createElement('div')
  root.className = 'print-root'
  document.body.append(root)
  render(sheet, root)
  // In some browsers, `print` returns before printing is done.
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
        {clockTime(created_at)} <PersonText>{direction === 'outbound' ? 'You' : writer}</PersonText>
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
