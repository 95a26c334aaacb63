// State and actions of a whole conversation: takeover, contact, export, print.

import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'

import type { Conversation } from '../../api/messages.ts'
import type { PhoneLine } from '../../api/phone-lines.ts'
import { type Answer, UNREACHABLE } from '../api.ts'
import { Button } from '../components/button.tsx'
import { DownloadButton } from '../components/download-button.tsx'
import { Switch } from '../components/form.tsx'
import { Face, Badge, Icon } from '../components/icon.tsx'
import { lazyDialog } from '../components/lazy-page.tsx'
import { Dialog } from '../components/modal.tsx'
import { PersonText } from '../components/text.tsx'
import { useDashboard, useQuickAction } from '../dashboard.ts'
import { numberWords } from '../numbers.ts'
import { conversationName, isGroup, personName } from '../people.ts'
import { grouped } from '../words/common.ts'
import { CONVERSATIONS, PEOPLE } from '../words/conversations.ts'
import { isReady, lineState } from '../words/line-states.ts'

const CONTACT = lazyDialog(async () => (await import('./contact-form.tsx')).ContactDialog)

type MarkProps = { readonly conversation: Conversation | null; readonly line: PhoneLine | null }

export function ThreadMarks({ conversation, line }: MarkProps) {
  return (
    <>
      {line !== null && !isReady(line) && <Badge of={lineState(line)} />}
      {conversation?.automation_paused && (
        <span class="thread-takeover">
          <Badge of={{ text: CONVERSATIONS.takeover, tone: 'plain', icon: 'person' }} />
        </span>
      )}
      {conversation?.opted_out && <Badge of={{ text: 'Opted out', tone: 'warn', icon: 'cross' }} />}
    </>
  )
}

export function Participants({ conversation }: { readonly conversation: Conversation }) {
  const isOpen = useSignal(false)
  const { participants = [] } = conversation
  return (
    <>
      <button type="button" class="text-button" onClick={() => (isOpen.value = true)}>
        {participants.length === 1 ? '1 person' : `${grouped(participants.length)} people`}
      </button>
      {isOpen.value && (
        <Dialog title="People in this group" onClose={() => (isOpen.value = false)}>
          <ul class="participants">
            {participants.map((person) => (
              <li key={person.handle}>
                <Face {...person} isSmall />
                <PersonText>{personName(person)}</PersonText>
                {person.name !== null && (
                  <PersonText in="quiet">{numberWords(person.handle)}</PersonText>
                )}
              </li>
            ))}
          </ul>
        </Dialog>
      )}
    </>
  )
}

type Props = { readonly conversation: Conversation; readonly onChanged: () => void }

export function Takeover({ conversation, onChanged }: Props) {
  const { id, automation_paused } = conversation
  const { api, notices, session } = useDashboard()
  const { start } = useQuickAction(
    (isOn: boolean) =>
      api.call('updateConversation', { params: { id }, body: { automation_paused: isOn } }),
    (changed) => {
      onChanged()
      notices.done(
        changed.automation_paused
          ? 'Human takeover is on. Apps are asked not to reply.'
          : 'Human takeover is off. Apps may reply again.',
      )
    },
  )
  if (session.member) return null
  return <Switch label={CONVERSATIONS.takeover} isOn={automation_paused} onChange={start} />
}

function useMenu() {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = () => {
    menu.current?.removeAttribute('open')
    menu.current?.querySelector('summary')?.focus()
  }
  return { menu, close }
}

export function ThreadMenu({ conversation, onChanged }: Props) {
  const { session } = useDashboard()
  const isOwner = session.member === undefined
  const { handle, contact_name } = conversation
  const { menu, close } = useMenu()
  const isNaming = useSignal(false)
  const isKnown = contact_name !== undefined
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
        <summary class="button button-quiet button-icon" title="More">
          <Icon name="more" />
          <span class="visually-hidden">More</span>
        </summary>
        {/* In Safari a click doesn't focus buttons, so the menu takes the focus. */}
        <div class="menu-items" tabIndex={-1}>
          {/* On a phone, in place of the one in the head. */}
          <Takeover
            conversation={conversation}
            onChanged={() => {
              close()
              onChanged()
            }}
          />
          {isOwner && !isGroup(conversation) && (
            <Button variant="quiet" icon="person" onClick={name}>
              {isKnown ? PEOPLE.edit : PEOPLE.add}
            </Button>
          )}
          {isOwner &&
            FORMATS.map((format) => <ExportButton key={format} {...{ conversation, format }} />)}
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

const FORMATS = ['csv', 'json'] as const

type ExportProps = {
  readonly conversation: Conversation
  readonly format: (typeof FORMATS)[number]
}

function ExportButton({ conversation, format }: ExportProps) {
  const call = { params: { id: conversation.id }, query: { format } }
  const name = `${conversationName(conversation)}.${format}`
  return (
    <DownloadButton variant="quiet" id="exportConversation" {...{ call, name }}>
      {format === 'csv' ? 'Export as table (CSV)' : 'Export as JSON'}
    </DownloadButton>
  )
}

function PrintButton({ conversation }: Pick<Props, 'conversation'>) {
  const { api, clock } = useDashboard()
  const { isBusy, start } = useQuickAction(async (): Promise<Answer<unknown>> => {
    const script = await import('./thread-print.tsx').catch(() => null)
    if (script === null) return { ok: false, failure: UNREACHABLE }
    return script.printThread(api, conversation, clock.time())
  })
  return (
    <Button variant="quiet" icon="document" isBusy={isBusy} onClick={start}>
      {isBusy ? 'Getting all messages…' : 'Print conversation'}
    </Button>
  )
}
