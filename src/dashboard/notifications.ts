// Browser notifications about new messages. The leading page shows them while no page is visible.

import type { Conversation } from '../api/messages.ts'
import { href } from './address.ts'
import { readStored, store } from './browser-storage.ts'
import type { Dashboard } from './dashboard.ts'
import { isAnyVisible } from './leader.ts'
import { conversationName } from './people.ts'
import { isoTime } from './time-words.ts'
import { messageExcerpt } from './words/attachments.ts'

/** The sender's name only, or also the text; null for no notifications. */
type NotificationChoice = 'name' | 'text' | null

const NAME = 'hookline-notifications'
const SHOWN_MAX = 5
const TEXT_MAX = 200
const REST_MS = 1_000

export function notificationChoice(): NotificationChoice {
  const stored = readStored(NAME)
  return stored === 'name' || stored === 'text' ? stored : null
}

function isWanted(): boolean {
  const isAllowed = 'Notification' in window && Notification.permission === 'granted'
  return notificationChoice() !== null && isAllowed
}

export function chooseNotifications(choice: NotificationChoice): void {
  store(NAME, choice)
}

/** New messages waiting for an approval, newest first; none on the first check. */
async function newlyHeld(api: Dashboard['api'], since: string | null, end: AbortSignal) {
  if (since === null) return []
  const query = { type: 'all', queued_reason: 'approval', created_after: since, limit: SHOWN_MAX }
  const answer = await api.call('listMessages', { query, signal: end })
  return answer.ok ? answer.value.data : []
}

export function notify({ api, clock, live, router, session }: Dashboard, end: AbortSignal): void {
  let isChanged = false
  let isChecking = false
  /** The time of the latest message that needs no notification; null before the first check. */
  let seen: string | null = null
  let seenHeld: string | null = null

  async function check() {
    isChecking = true
    while (isChanged && !end.aborted) {
      isChanged = false
      if (isWanted()) await showNew()
      else seen = null
      await clock.sleep(REST_MS, end)
    }
    isChecking = false
  }
  async function showNew() {
    const query = { type: 'all', unread: 'true', limit: SHOWN_MAX }
    const answer = await api.call('listConversations', { query, signal: end })
    if (!answer.ok) return
    const timeOf = ({ last_message }: Conversation) => last_message?.created_at ?? ''
    const fresh = answer.value.data.filter((each) => seen !== null && timeOf(each) > seen)
    seen = [seen ?? '', ...answer.value.data.map(timeOf)].reduce((a, b) => (a > b ? a : b))
    // Members can't approve messages.
    const held = session.member ? [] : await newlyHeld(api, seenHeld, end)
    seenHeld = held[0]?.created_at ?? seenHeld ?? isoTime(clock.time())
    // A page that was just hidden may still check at the same time as the leading page.
    if (!live.isLeading || !document.hidden || (await isAnyVisible())) return
    for (const conversation of fresh) show(conversation)
    for (const message of held) {
      showOne(message.conversation_id, message.handle, 'A message needs your approval', message.id)
    }
  }
  function show(conversation: Conversation) {
    const { id, last_message } = conversation
    if (last_message === null || last_message.direction === 'outbound') return
    const text = messageExcerpt(last_message).slice(0, TEXT_MAX)
    const body = notificationChoice() === 'text' ? text : 'New message'
    // With the id as the tag, a later notification replaces the earlier one of its conversation.
    showOne(id, conversationName(conversation), body, id)
  }
  function showOne(id: string, title: string, body: string, tag: string) {
    const notification = new Notification(title, { body, tag })
    notification.addEventListener('click', () => {
      window.focus()
      router.go(href('conversations', [id]))
      notification.close()
    })
  }
  function wake() {
    isChanged = true
    if (!isChecking) void check()
  }
  const stop = live.subscribe((update) => {
    if (update === 'reset' || update.what === 'conversation') wake()
  })
  end.addEventListener('abort', stop, { once: true })
  wake()
}
