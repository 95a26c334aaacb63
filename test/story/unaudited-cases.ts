// What the operations that leave no entry in the trail need, so that each call of one succeeds.

import type { OperationId } from '../../src/api/operations.ts'
import { ANNA, channel, upload, webhook, type Given } from './audit-cases.ts'
import { BACKUP, LOCALHOST, type Stage } from './audit-stage.ts'

/** What answers only elsewhere: a box, on its own control socket. */
export const ELSEWHERE: readonly OperationId[] = ['getBox']

const UPLOAD = '/dashboard/restore?filename=other.db'
const LATER = '2026-12-24T12:00:00Z'

const contact = async ({ owner }: Stage) => {
  await owner('PUT', `/api/v1/contacts/${ANNA}`, { name: 'Anna' })
  return ANNA
}
const sent = (stage: Stage) => stage.message('sent')

/** Makes the thing whose id is in such a path. */
const THINGS: Readonly<Record<string, (stage: Stage) => Promise<string>>> = {
  '/alerts/channels/': channel,
  '/attachments/': upload,
  '/contacts/': contact,
  '/conversations/': (stage) => stage.conversation(),
  '/messages/': sent,
  '/phone-lines/': (stage) => stage.line(),
  '/pictures/line/': (stage) => stage.line(),
  '/pictures/webhook/': webhook,
  '/recipients/': async () => ANNA,
  '/webhook-deliveries/': (stage) => stage.delivery(),
  '/webhooks/': webhook,
}

async function uploaded(stage: Stage): Promise<string> {
  const { body } = await stage.browser.upload(UPLOAD, stage.backup())
  return body.id
}

/** The operations that need more than the thing in their path. */
const CASES: { readonly [Id in OperationId]?: (stage: Stage) => Promise<Given> } = {
  sendMessage: async () => ({ body: { to: ANNA, text: 'hello', send_at: LATER } }),
  sendInConversation: async () => ({ body: { text: 'hello', send_at: LATER } }),
  uploadAttachment: async () => ({ query: '?filename=menu.txt', body: 'soup' }),
  markConversationRead: async (stage) => {
    const path = await stage.conversation()
    const { data } = await stage.relay.get(`/api/v1/messages?conversation_id=${path}`)
    return { path, body: { message_id: data[0].id } }
  },
  updateConversation: async () => ({ body: { automation_paused: true } }),
  putContact: async () => ({ path: ANNA, body: { name: 'Anna' } }),
  importContacts: async () => ({ body: new TextEncoder().encode(`Anna;${ANNA}\n`) }),
  search: async () => ({ query: '?q=hello' }),
  getInboxEntry: async ({ browser, owner, relay }) => {
    const { url } = (await browser.get('/dashboard/test-inbox')).body
    const { body } = await owner('POST', '/api/v1/webhooks', { url, events: ['message.sent'] })
    await relay.fetch(new URL(url).pathname, {
      method: 'POST',
      headers: LOCALHOST,
      body: '{}',
    })
    const inbox = await browser.get(`/dashboard/webhooks/${body.id}/inbox`)
    return { path: body.id, entry: inbox.body.data[0].id }
  },
  getContactCost: async () => ({ query: `?to=${encodeURIComponent(ANNA)}` }),
  drawQrCode: async () => ({ query: `?text=${encodeURIComponent(`sms:${ANNA}?&body=hello`)}` }),
  checkUpdate: async ({ owner }) => {
    await owner('PUT', '/api/v1/settings/release_source', { value: 'https://127.0.0.1:9/' })
    return {}
  },
  getMetrics: async ({ owner }) => {
    await owner('PUT', '/api/v1/settings/open_metrics', { value: 'true' })
    return {}
  },
  putSetupStep: async () => ({ body: { step: 'line' } }),
  createDownload: async () => ({ body: { backup: BACKUP } }),
  uploadBackup: async (stage) => ({ query: '?filename=other.db', body: stage.backup() }),
  startRestore: async (stage) => ({ body: { id: await uploaded(stage) } }),
  bridgeReceive: async () => ({ body: { id: '1', from: ANNA, text: 'hello' } }),
  bridgeDone: async (stage) => ({ body: { id: await stage.handedOut(), sent: true } }),
}

/** The rest of a call of the operation. */
export async function givenTo(id: OperationId, path: string, stage: Stage): Promise<Given> {
  const given = (await CASES[id]?.(stage)) ?? {}
  const [, place = ''] = /^(\/.+?\/):/.exec(path) ?? []
  return { path: given.path ?? (await THINGS[place]?.(stage)), ...given }
}
