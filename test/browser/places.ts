// All that the dashboard can show: each page, each part of one that has an address of its own, and each
// dialog, menu and drawer.

import { eventually } from '../support/eventually.ts'
import { type ApiClient } from '../support/relay-process.ts'
import { furnish, type Furniture, type Relay } from './furnished.ts'
import { fillRichly, FRIEND } from './rich.ts'
import { PERSON } from './stage.ts'
import type { WatchedPage } from './watched-page.ts'

export type Place = {
  readonly name: string
  /** What stands behind `#/`. */
  readonly hash: string
  /** The step of setup there; null if it does not matter. */
  readonly step: string | null
  /** Selectors of what is pressed there, one after another; behind `=` stands a text that is typed. */
  readonly press: readonly string[]
}

/** Those that a relay has in which nothing happened yet. */
export const EMPTY_PLACES = places({
  home: ['home'],
  conversations: ['conversations'],
  people: ['people'],
  lines: ['lines'],
  boxes: ['boxes'],
  messages: ['messages'],
  'unknown-message': ['messages/msg_unknown'],
  webhooks: ['webhooks'],
  connect: ['connect'],
  keys: ['keys'],
  night: ['night'],
  activity: ['activity'],
  settings: ['settings'],
  'unknown-conversation': ['conversations/conv_unknown'],
  'unknown-line': ['lines/line_unknown'],
  'unknown-webhook': ['webhooks/wh_unknown'],
  'unknown-page': ['nope'],
  'setup-done': ['setup'],
})

/** Without the permissions, which only a Mac has. */
const SETUP_STEPS = ['line', 'message', 'alerts', 'key']

/** A name from right to left, and one longer than a row. */
const ARABIC_NAME = 'محمد الأمين'
const LONG_NAME = 'Bartholomew Featherstonehaugh-Cholmondeley, Upholstery and Bicycles'

export type Rooms = Furniture & {
  readonly richId: string
  readonly groupId: string
  readonly inboxId: string
}

/** Lets everything happen of which the dashboard shows something. */
export async function furnishAll(
  { api, lines: [first, second] }: Relay,
  watched: WatchedPage,
): Promise<Rooms> {
  const furniture = await furnish({ api, lines: [first, second] })
  const { personId, groupId } = await fillRichly(api, first)
  const name = (handle: string, fields: object) =>
    api.ask('PUT', `/api/v1/contacts/${encodeURIComponent(handle)}`, fields)
  await name(FRIEND, { name: ARABIC_NAME, note: 'يحب الشاي', tags: ['vip', 'مورد'] })
  await name(PERSON, { name: LONG_NAME, note: 'Likes tea', tags: ['vip', 'supplier', 'Tuesday'] })
  await api.ask('PUT', `/api/v1/opt-outs/${encodeURIComponent(PERSON)}`, {})
  // The line is at its limit, which is an issue.
  await api.ask('PATCH', `/api/v1/phone-lines/${second}`, { daily_contact_limit: 1 })
  await watched.show('home')
  const inboxId = await addInbox(api, watched)
  await eventually('one message failed', async () => {
    const { data } = await api.ask<{ data: unknown[] }>('GET', '/api/v1/messages?status=failed')
    return data.length > 0 ? true : null
  })
  return { ...furniture, richId: personId, groupId, inboxId }
}

/** Adds a webhook for the relay's own test inbox, which then receives an event. */
async function addInbox(api: ApiClient, watched: WatchedPage): Promise<string> {
  const headers = await headersOf(watched)
  const answer = await watched.page.request.get('/dashboard/test-inbox', { headers })
  const { url } = (await answer.json()) as { readonly url: string } // As its schema says.
  const body = { url, events: ['message.received'] }
  const { id } = await api.ask<{ id: string }>('POST', '/api/v1/webhooks', body)
  await api.ask('POST', `/api/v1/webhooks/${id}/test`, {})
  return id
}

const MORE = 'summary[title="More"]'
const named = (name: string) => `role=button[name="${name}"]`

export function furnishedPlaces(rooms: Rooms): readonly Place[] {
  const { conversationId, richId, groupId, messageId, lineId, inboxId, deliveryId } = rooms
  const webhook = `webhooks/${rooms.failingWebhookId}`
  const thread = `conversations/${richId}`
  return [
    ...places({
      home: ['home'],
      search: ['home', '.nav-search, [title="Search"]', '=table'],
      snooze: ['home', named('Snooze…')],
      conversations: ['conversations'],
      'conversation-new': ['conversations', named('New conversation')],
      notifications: ['conversations', named('Notifications')],
      'thread-plain': [`conversations/${conversationId}`],
      thread: [thread],
      'thread-menu': [thread, MORE],
      'thread-contact': [thread, MORE, named('Edit contact')],
      'thread-picture': [thread, 'button.picture'],
      group: [`conversations/${groupId}`],
      'group-people': [`conversations/${groupId}`, named('3 people')],
      people: ['people'],
      'people-new': ['people', named('Add contact')],
      'people-opt-outs': ['people', named('Opt-outs…')],
      person: [`people/${encodeURIComponent(FRIEND)}`],
      'person-edit': [`people/${encodeURIComponent(FRIEND)}`, named('Edit contact')],
      'person-delete': [
        `people/${encodeURIComponent(FRIEND)}`,
        named('Edit contact'),
        named('Delete contact…'),
      ],
      'people-tag': ['people?tag=vip'],
      lines: ['lines'],
      'line-add': ['lines', named('Add a line')],
      line: [`lines/${lineId}`],
      messages: ['messages'],
      'messages-failed': ['messages?status=failed'],
      'messages-uncertain': ['messages?status=uncertain'],
      message: [`messages/${messageId}`],
      'message-again': ['messages?status=failed', named('Send as SMS…')],
      webhooks: ['webhooks'],
      'webhook-new': ['webhooks', named('Add webhook')],
      'webhook-deliveries': [webhook, '.delivery-filters > summary'],
      'webhook-retry': [webhook, named('Retry failed deliveries…')],
      'webhook-past': [webhook, named('Send past events…')],
      'webhook-delivery': [`${webhook}/deliveries/${deliveryId}`],
      'webhook-settings': [`${webhook}/settings`],
      'webhook-secret': [`${webhook}/settings`, named('New secret…')],
      'webhook-delete': [`${webhook}/settings`, named('Delete webhook…')],
      'webhook-test': [`${webhook}/test`],
      'webhook-inbox': [`webhooks/${inboxId}/inbox`, 'summary.inbox-row'],
      connect: ['connect'],
      'connect-program': ['connect/uptime-kuma'],
      keys: ['keys'],
      'key-new': ['keys', named('New key')],
      'key-made': ['keys', named('New key'), named('Create key')],
      'key-revoke': ['keys', 'role=button[name=/^Revoke/]'],
      night: ['night'],
      activity: ['activity'],
      settings: ['settings'],
    }),
    ...SETUP_STEPS.map((step) => ({ name: `setup-${step}`, hash: 'setup', step, press: [] })),
  ]
}

/** Those of the places that bear one of the names; throws if one is missing. */
export function placesNamed(all: readonly Place[], names: readonly string[]): readonly Place[] {
  return names.map((name) => {
    const place = all.find((each) => each.name === name)
    if (place === undefined) throw new Error(`No place is named ${name}.`)
    return place
  })
}

/** Goes there, presses what is to be pressed, and waits until all of it is shown. */
export async function visit(watched: WatchedPage, { hash, step, press }: Place): Promise<void> {
  if (step !== null) {
    await watched.page.request.put('/dashboard/setup-step', {
      data: { step },
      headers: await headersOf(watched),
    })
  }
  // The page asks for the step when it is loaded.
  if (step !== null) await watched.page.goto('about:blank')
  await watched.show(hash)
  for (const what of press) {
    if (what.startsWith('=')) await watched.page.keyboard.type(what.slice(1))
    else await watched.page.locator(what).filter({ visible: true }).first().click()
    await watched.settle()
  }
}

async function headersOf({ page }: WatchedPage): Promise<Record<string, string>> {
  const { origins } = await page.context().storageState()
  const kept = origins.flatMap(({ localStorage }) => localStorage)
  const key = kept.find(({ name }) => name === 'hookline-page-key')?.value ?? ''
  return { 'sec-fetch-site': 'same-origin', 'x-hookline-page-key': key }
}

/** Each by its name: what stands behind `#/`, and what is pressed there. */
function places(
  named: Readonly<Record<string, readonly [hash: string, ...press: string[]]>>,
): readonly Place[] {
  return Object.entries(named).map(([name, [hash, ...press]]) => ({
    name,
    hash,
    step: null,
    press,
  }))
}
