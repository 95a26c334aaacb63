// Receivers of events in the forms of BlueBubbles and Sendblue, at a relay that dies. Some answers are refusals. What
// each got is held against the ledgers.

import { systemRandom } from '../../../src/system/random.ts'
import { callAs } from '../../support/compat-credentials.ts'
import type { ApiClient, ApiKey } from '../../support/relay-process.ts'
import type { Ledgers } from '../ledgers.ts'

const REFUSED_SHARE = 0.1
const SECRET = 'a-shared-secret'

type Post = {
  readonly path: string
  readonly query: string
  readonly secret: string | null
  readonly id: string
  readonly status: string
}

type Body = {
  readonly type?: string
  readonly data?: { readonly guid: string }
  readonly message_handle?: string
  readonly status?: string
}

export class FormatReceivers {
  readonly posts: Post[] = []
  readonly #server: Bun.Server<undefined>
  #password = ''

  constructor() {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        const { pathname, search } = new URL(request.url)
        const body = (await request.json()) as Body // Of the relay.
        const { data, type = '', message_handle: handle, status = type } = body
        const secret = request.headers.get('sb-signing-secret')
        const id = data?.guid ?? handle ?? ''
        this.posts.push({ path: pathname, query: search, secret, id, status })
        return new Response(null, { status: systemRandom.chance() < REFUSED_SHARE ? 500 : 200 })
      },
    })
  }

  /** The address for what becomes of one message. */
  callback(text: string): string {
    return `${this.#url}/status?text=${encodeURIComponent(text)}`
  }

  /** Registers the webhooks, as clients of each API do. */
  async register(api: ApiClient, url: string): Promise<void> {
    const make = (name: string) => api.ask<ApiKey>('POST', '/api/v1/keys', { for: name })
    const post = async (path: string, headers: Record<string, string>, body: object) => {
      const given = { method: 'POST', headers, body: JSON.stringify(body) }
      const response = await fetch(url + path, given)
      if (!response.ok) throw new Error(await response.text())
    }
    const [bubbles, sendblue] = [await make('bluebubbles'), await make('sendblue')]
    this.#password = `?password=${bubbles.key}:${bubbles.secret}`
    const asked = callAs('query', bubbles, '/compat/bluebubbles/api/v1/webhook')
    const wanted = { url: `${this.#url}/bubbles${this.#password}`, events: ['new-message'] }
    await post(asked.path, asked.headers, wanted)
    const { path, headers } = callAs(
      'sb headers',
      sendblue,
      '/compat/sendblue/api/account/webhooks',
    )
    await post(path, headers, { webhooks: [`${this.#url}/receive`], globalSecret: SECRET })
  }

  /** Each list is empty when all is well. `statusPath` is the route of the sends that named a callback. */
  faults({ messages, carried }: Ledgers, statusPath: string) {
    const all = [...messages.values()]
    const inbound = all.filter(({ direction }) => direction === 'inbound')
    const statuses = this.#at('/status')
    const said = (id: string, status: string) =>
      statuses.some((post) => post.id === id && post.status === status)
    const followed = all.filter(({ text }) => text.startsWith(`${statusPath} `))
    const isLost = ({ id, status }: (typeof all)[number]) =>
      (['sent', 'delivered', 'read'].includes(status) && !said(id, 'SENT')) ||
      (['delivered', 'read'].includes(status) && !said(id, 'DELIVERED')) ||
      (status === 'failed' && !said(id, 'ERROR'))
    return {
      bubblesLost: inbound.filter(({ id }) => !this.#at('/bubbles').some((post) => post.id === id)),
      bubblesOthers: this.#at('/bubbles').filter(
        ({ id, status, query }) =>
          messages.get(id)?.direction !== 'inbound' ||
          status !== 'new-message' ||
          query !== this.#password,
      ),
      sendblueLost: inbound.filter(
        ({ id }) => !this.#at('/receive').some((post) => post.id === id),
      ),
      sendblueUnsigned: this.#at('/receive').filter(({ secret }) => secret !== SECRET),
      statusLost: followed.filter(isLost),
      statusOfAnother: statuses.filter(
        ({ id, query }) =>
          this.callback(messages.get(id)?.text ?? '') !== `${this.#url}/status${query}`,
      ),
      statusFalse: statuses.filter(
        ({ id, status }) =>
          status === 'ERROR' && (carried.has(id) || messages.get(id)?.status === 'uncertain'),
      ),
      statusUnmet: followed.length === 0 || inbound.length === 0 ? ['nothing to follow'] : [],
    }
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  get #url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  #at(path: string): readonly Post[] {
    return this.posts.filter((post) => post.path === path)
  }
}
