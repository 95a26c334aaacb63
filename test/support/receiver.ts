import { Webhook } from 'standardwebhooks'

/** One POST that a receiver got. */
export type Received = {
  /** The header `webhook-id`. */
  readonly id: string
  readonly event: string
  readonly lineId: string
  readonly message: {
    readonly id: string
    readonly text: string
    readonly handle: string
    readonly attachments?: readonly { readonly state: string }[]
  }
  readonly isSigned: boolean
}

type Payload = {
  readonly event: string
  readonly phone_line_id: string
  /** Left out in the event of an opt-out, which names the message of its keyword. */
  readonly message?: Received['message']
  readonly opt_out?: {
    readonly message_id: string
    readonly handle: string
    readonly keyword: string
  }
}

/** A webhook's other end: a real listener that checks signatures and keeps what it gets. */
export class Receiver {
  readonly received: Received[] = []
  /** The secret that the relay gave; until it is known nothing counts as signed. */
  secret = ''
  readonly #server: Bun.Server<undefined>

  /** `answer` stands in for the answer 200. */
  constructor(answer: (post: Received) => Response | Promise<Response> = () => new Response('ok')) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        const post = this.#read(request.headers, await request.text())
        this.received.push(post)
        return answer(post)
      },
    })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/hook`
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  #read(headers: Headers, body: string): Received {
    const payload = JSON.parse(body) as Payload // The relay's own words: tests compare them.
    return {
      id: headers.get('webhook-id') ?? '',
      event: payload.event,
      lineId: payload.phone_line_id,
      message: payload.message ?? keywordOf(payload),
      isSigned: this.#isSigned(headers, body),
    }
  }

  #isSigned(headers: Headers, body: string): boolean {
    try {
      new Webhook(this.secret).verify(body, Object.fromEntries(headers))
      return true
    } catch {
      return false
    }
  }
}

function keywordOf({ opt_out: optOut }: Payload): Received['message'] {
  const { message_id: id = '', keyword: text = '', handle = '' } = optOut ?? {}
  return { id, text, handle }
}
