// The printed clients against a relay that refuses, hesitates, dies and sends them elsewhere: which requests
// they repeat, with which key, and the error in the end.

import { describe, expect, test } from 'bun:test'

import { ClientPrograms, LANGUAGES, type Language } from '../support/client-programs.ts'

type Call = {
  readonly path: string
  readonly key: string | null
  readonly prefer: string | null
}

type Outcome = {
  readonly got?: string
  readonly code?: string
  readonly status?: number
  readonly retry_after?: number | null
  readonly request_id?: string | null
  readonly details?: object
}

const TEST_MS = 60_000

describe.each(Object.keys(LANGUAGES) as Language[])('the client in %s', (language) => {
  test(
    'repeats what is safe to repeat, honours Retry-After, says what went wrong, and reads events on from a certain place',
    async () => {
      using programs = await ClientPrograms.layOut(language)
      using relay = new ScriptedRelay()
      const name = `driver.${LANGUAGES[language].extension}`
      await Bun.write(programs.file(name), DRIVERS[language])

      await using driver = programs.start('driver', {
        id: '',
        key: 'hl_live_key',
        secret: 'secret',
        url: relay.url,
      })
      const [line = ''] = await driver.end()

      const outcomes = JSON.parse(line) as Record<string, Outcome>
      expect(outcomes).toMatchObject({
        busy: { got: 'msg_busy' },
        later: { code: 'rate_limit_exceeded', status: 429, retry_after: 3_600 },
        page: { code: 'invalid_answer', status: 502 },
        gone: { code: 'not_found', status: 404, request_id: 'req_1', retry_after: null },
        silent: { code: 'timeout', status: 0 },
        moved: { code: 'invalid_answer', status: 302 },
        plain: { code: 'starting', status: 503 },
        once: { got: 'msg_once' },
        unreachable: { code: 'unreachable', status: 0 },
        events: { got: 'evt_2', code: 'events_gone', status: 410, details: { oldest: 'evt_9' } },
      })
      expect(relay.attempts('busy')).toBe(2)
      expect(relay.attempts('later')).toBe(1)
      expect(relay.attempts('gone')).toBe(1)
      expect(relay.attempts('elsewhere')).toBe(0)
      expect(relay.calls.filter(({ path }) => path === '/send').map(({ key }) => key)).toEqual([
        null,
        'order-1',
        'order-1',
        'order-1',
      ])
      const reads = relay.calls.filter(({ path }) => path.startsWith('/events'))
      expect(reads.map(({ path, prefer }) => [after(path), prefer])).toEqual([
        ['latest', null],
        ['evt_1', 'wait=30'],
        ['evt_1', 'wait=30'],
        ['evt_3', 'wait=30'],
      ])
    },
    TEST_MS,
  )
})

function after(path: string): string | null {
  return new URL(path, 'http://relay').searchParams.get('after')
}

/** Answers by what the name in the path stands for. */
class ScriptedRelay implements Disposable {
  readonly calls: Call[] = []
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: (request) => {
      const { pathname, search } = new URL(request.url)
      const path = pathname.replace(/^\/api\/v1(\/messages)?/, '') + search
      const { headers } = request
      this.calls.push({
        path,
        key: headers.get('idempotency-key'),
        prefer: headers.get('prefer'),
      })
      return this.#answer(path, headers.get('idempotency-key') !== null)
    },
  })

  get url(): string {
    return this.#server.url.origin
  }

  /** Requests for the message of this name. */
  attempts(name: string): number {
    return this.calls.filter(({ path }) => path === `/msg_${name}`).length
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  #answer(path: string, hasKey: boolean): Response | Promise<Response> {
    if (path.startsWith('/events')) return this.#events()
    if (path === '/send') {
      const tries = this.calls.filter((call) => call.path === path && call.key !== null).length
      return hasKey && tries === 3 ? Response.json({ id: 'msg_once' }) : refusal(503, 'starting')
    }
    switch (path) {
      case '/msg_busy':
        return this.attempts('busy') === 1
          ? refusal(503, 'starting', { 'retry-after': '0' })
          : Response.json({ id: 'msg_busy' })
      case '/msg_later':
        return refusal(429, 'rate_limit_exceeded', { 'retry-after': '3600' })
      case '/msg_page':
        return new Response('<h1>Bad gateway</h1>', { status: 502 })
      case '/msg_silent':
        return new Promise(() => {})
      case '/msg_moved':
        return new Response(null, {
          status: 302,
          headers: { location: '/api/v1/messages/msg_elsewhere' },
        })
      default:
        return refusal(404, 'not_found', { 'x-request-id': 'req_1' })
    }
  }

  #events(): Response {
    const count = this.calls.filter(({ path }) => path.startsWith('/events')).length
    const page = (data: readonly object[], next_cursor: string) =>
      Response.json({ data, has_more: false, next_cursor })
    if (count === 1) return page([], 'evt_1')
    if (count === 2) return refusal(500, 'internal_error', { 'retry-after': '0' })
    // A filter leaves events out: the place is behind them all the same.
    if (count === 3) return page([{ id: 'evt_2', payload: {} }], 'evt_3')
    return refusal(410, 'events_gone', {}, { oldest: 'evt_9' })
  }
}

function refusal(
  status: number,
  code: string,
  headers: Readonly<Record<string, string>> = {},
  details?: object,
): Response {
  return Response.json({ error: { code, message: 'No.', details } }, { status, headers })
}

const DRIVERS: Readonly<Record<Language, string>> = {
  typescript: `
    import { Hookline, HooklineError } from './hookline.ts'
    import { relay } from './relay.ts'
    const outcomes: Record<string, object> = {}
    const outcomeOf = async (name: string, work: () => Promise<{ id: string }>, got?: object) => {
      try {
        outcomes[name] = { got: (await work()).id }
      } catch (error) {
        if (!(error instanceof HooklineError)) throw error
        const { code, status, details, requestId, retryAfter } = error
        const more = { request_id: requestId ?? null, retry_after: retryAfter ?? null }
        outcomes[name] = { code, status, details, ...more, ...got }
      }
    }
    const hasty = { patienceMs: 0, timeoutMs: 300 }
    for (const name of ['busy', 'later', 'gone', 'moved']) await outcomeOf(name, () => relay.getMessage('msg_' + name))
    for (const name of ['page', 'silent']) await outcomeOf(name, () => relay.getMessage('msg_' + name, hasty))
    const request = { to: '+12025550123', text: 'hello' }
    await outcomeOf('plain', () => relay.sendMessage(request))
    await outcomeOf('once', () => relay.sendOnce(request, { key: 'order-1' }))
    const nobody = new Hookline({ url: 'http://127.0.0.1:1', key: 'a', secret: 'b', patienceMs: 0 })
    await outcomeOf('unreachable', () => nobody.getMessage('msg_1'))
    const seen = {}
    await outcomeOf('events', async () => {
      for await (const { id } of relay.events()) Object.assign(seen, { got: id })
      return { id: 'the end' }
    }, seen)
    console.log(JSON.stringify(outcomes))`,
  python: `
import json
from hookline import Hookline, HooklineError
from relay import relay
outcomes = {}
def outcome_of(name, work, seen={}):
    try:
        outcomes[name] = {"got": work()["id"]}
    except HooklineError as error:
        facts = {"code": error.code, "status": error.status, "details": error.details}
        more = {"request_id": error.request_id, "retry_after": error.retry_after}
        outcomes[name] = {**facts, **more, **seen}
for name in ["busy", "later", "gone", "moved"]:
    outcome_of(name, lambda: relay.get_message("msg_" + name))
for name in ["page", "silent"]:
    outcome_of(name, lambda: relay.get_message("msg_" + name, patience=0, timeout=0.3))
request = {"to": "+12025550123", "text": "hello"}
outcome_of("plain", lambda: relay.send_message(request))
outcome_of("once", lambda: relay.send_once(request, key="order-1"))
nobody = Hookline("http://127.0.0.1:1", "a", "b", patience=0)
outcome_of("unreachable", lambda: nobody.get_message("msg_1"))
seen = {}
def read():
    for event in relay.events():
        seen["got"] = event["id"]
outcome_of("events", read, seen)
print(json.dumps(outcomes))`,
}
