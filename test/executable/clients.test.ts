// The clients that `hookline client` prints, in the programs of the guide: compiled at the strictest, and
// run against the executable, over its death too.

import { describe, expect, test } from 'bun:test'

import { secretText, signedHeaders } from '../../src/webhooks/signature.ts'
import { objectAt, readDocument, type Node } from '../http/openapi-document.ts'
import { ClientPrograms, LANGUAGES, type Language } from '../support/client-programs.ts'
import { eventually } from '../support/eventually.ts'
import { hookline } from '../support/executable.ts'
import { mypyOf } from '../support/mypy.ts'
import { testNeeding } from '../support/needs.ts'
import { ApiClient, createKey, RelayProcess, temporaryDataDir } from '../support/relay-process.ts'
import { ROOT } from '../support/source-files.ts'
import { freePort } from './upgraded-relay.ts'

const TSC = `${ROOT}/node_modules/.bin/tsc`
const STRICT = [
  '--noEmit',
  '--skipLibCheck',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--noPropertyAccessFromIndexSignature',
  '--noImplicitOverride',
  '--noUnusedLocals',
  '--noUnusedParameters',
  '--verbatimModuleSyntax',
  '--erasableSyntaxOnly',
  '--target',
  'esnext',
  '--module',
  'preserve',
  '--allowImportingTsExtensions',
]
const DOM = ['--lib', 'es2022,dom,dom.iterable', '--types', '']
const SIMULATED = { HOOKLINE_SIMULATED_LINES: '2', HOOKLINE_SIMULATED_DELAY_MS: '1' }
const PERSON_WHO_REPLIES = '+12025550181'
const PROGRAM_MS = 90_000
const WAIT_MS_MAX = 30_000
/** Every deed of each kind of body, headers and secrets below. */
const REQUESTS = 14 * 3 * 5

type List<T> = { readonly data: readonly T[] }
type Message = { readonly id: string }

test('the client in TypeScript and its programs compile at the strictest for Bun, for Node and for browsers', async () => {
  using programs = await ClientPrograms.layOut('typescript')
  const files = programs.files()

  const compiled = [
    await programs.run([TSC, ...STRICT, '--lib', 'esnext', '--types', 'bun-types', ...files]),
    await programs.run([TSC, ...STRICT, '--lib', 'esnext', '--types', 'node', ...files]),
    await programs.run([TSC, ...STRICT, ...DOM, 'hookline.ts']),
  ]

  expect(files).toHaveLength(7)
  expect(compiled).toEqual(compiled.map(() => ({ exitCode: 0, output: '' })))
}, 120_000)

const mypy = mypyOf()
testNeeding('mypy', mypy !== null)(
  'the client in Python and its programs satisfy mypy at its strictest',
  async () => {
    using programs = await ClientPrograms.layOut('python')

    const files = programs.files()
    const checked = await programs.run([mypy ?? '', '--strict', ...files])

    expect(checked).toEqual({
      exitCode: 0,
      output: `Success: no issues found in ${files.length} source files\n`,
    })
  },
  120_000,
)

test('each client has every operation of the document, and says of which version it is', async () => {
  const [typescript, python, version, cobol] = [
    (await hookline(['client', 'typescript'])).stdout,
    (await hookline(['client', 'python'])).stdout,
    (await hookline(['version'])).stdout,
    await hookline(['client', 'cobol']),
  ]
  const paths = objectAt(await readDocument('/swagger/json'), 'paths')
  const operations = Object.values(paths).flatMap((path) => Object.values(path as Node))
  const ids = operations.map((operation) => String((operation as Node)['operationId']))
  const snakeCase = (id: string) => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)

  expect(ids.length).toBeGreaterThan(50)
  expect(ids.filter((id) => !typescript.includes(`\n  ${id}(`))).toEqual([])
  expect(ids.filter((id) => !python.includes(`\n    def ${snakeCase(id)}(\n`))).toEqual([])
  for (const text of [typescript, python]) {
    expect(text).toContain(`Hookline ${version.trim().split(' ')[1] ?? ''}, printed by`)
    expect(text).not.toContain('{{')
  }
  expect(cobol).toMatchObject({
    exitCode: 2,
    stderr: 'hookline: LANGUAGE must be one of: typescript, python.\n',
  })
}, 180_000)

describe.each(Object.keys(LANGUAGES) as Language[])('with the client in %s', (language) => {
  test(
    'programs send once, also over a relay that is down, schedule, cancel, and carry files in both directions',
    async () => {
      await using stage = await startStage(language)
      const { programs } = stage
      await Bun.write(programs.file('menu.pdf'), new Uint8Array(3_000_000).fill(37))

      await stage.relay.end('SIGKILL')
      await using first = stage.start('send')
      await stage.connectedInVain()
      await stage.restart()
      const sends = [await first.end(), await stage.run('send')]
      const schedule = await stage.run('schedule')
      const files = await stage.run('files')

      expect(sends[0]).toEqual([expect.stringMatching(/^msg_\w+ (sent|delivered|read)$/)])
      expect(idIn(sends[1])).toBe(idIn(sends[0]))
      expect(schedule).toEqual(['queued scheduled', 'failed canceled'])
      expect(files).toEqual([
        'outbound Our menu. 1',
        'outbound See you today at 10. 0',
        'outbound Your bike is ready. 0',
      ])
      expect(await Bun.file(programs.file('copy.pdf')).bytes()).toEqual(
        await Bun.file(programs.file('menu.pdf')).bytes(),
      )
    },
    PROGRAM_MS,
  )

  test(
    'a program takes the deliveries of a webhook, also while its secret is rotated, and no others',
    async () => {
      await using stage = await startStage(language)
      const port = freePort()
      const url = `http://127.0.0.1:${port}/`
      const hook = await stage.api.ask<{ id: string; secret: string }>('POST', '/api/v1/webhooks', {
        url,
        events: ['message.sent', 'message.received'],
      })
      const environment = { WEBHOOK_SECRET: hook.secret, PORT: String(port) }
      await using receiver = stage.start('webhook', environment)
      const answered = async () => (await fetch(url, { method: 'POST', body: '{}' })).status
      const forged = await eventually('it listens', () => answered().catch(() => null), WAIT_MS_MAX)

      await stage.send(PERSON_WHO_REPLIES, 'first')
      await stage.api.ask('POST', `/api/v1/webhooks/${hook.id}/rotate-secret`)
      await stage.send(PERSON_WHO_REPLIES, 'second')
      const areThere = () => (receiver.lines.length >= 4 ? true : null)
      await eventually('four deliveries', areThere, WAIT_MS_MAX)

      expect(forged).toBe(401)
      expect(receiver.lines.map((line) => line.replace(/^evt_\w+ /, '')).sort()).toEqual([
        'message.received',
        'message.received',
        'message.sent',
        'message.sent',
      ])
    },
    PROGRAM_MS,
  )

  test(
    'a program reads every event once, over kills of the relay and of itself',
    async () => {
      await using stage = await startStage(language)
      await Bun.write(stage.programs.file('place.txt'), 'oldest')
      const first = stage.start('events')
      await stage.send(PERSON_WHO_REPLIES, 'before')
      await stage.allRead([first], 1)

      await stage.killRelay()
      await stage.send(PERSON_WHO_REPLIES, 'after a kill')
      await stage.allRead([first], 2)
      await first[Symbol.asyncDispose]()
      await stage.send(PERSON_WHO_REPLIES, 'while nobody reads')
      await stage.killRelay()
      await using second = stage.start('events')
      await stage.send(PERSON_WHO_REPLIES, 'after two kills')
      await stage.allRead([first, second], 4)

      const read = [...first.lines, ...second.lines]
      expect(read).toHaveLength(4)
      expect(await stage.replies()).toBe(4)
    },
    PROGRAM_MS,
  )

  test(
    'of signed requests it takes those that are whole, recent and signed with a secret of ours',
    async () => {
      using programs = await ClientPrograms.layOut(language)
      const cases = signedCases(REQUESTS)
      await Bun.write(programs.file('cases.json'), JSON.stringify(cases))
      await Bun.write(programs.file(`judge.${LANGUAGES[language].extension}`), JUDGES[language])

      const { output } = await programs.run([
        ...LANGUAGES[language].command,
        `judge.${LANGUAGES[language].extension}`,
      ])

      const results = JSON.parse(output) as string[]
      const wrong = cases.filter(({ expected }, index) => results[index] !== expected)
      expect(results).toHaveLength(REQUESTS)
      expect(wrong.map(({ what }) => what)).toEqual([])
      expect(new Set(cases.map(({ what }) => what)).size).toBe(DEEDS.length)
    },
    PROGRAM_MS,
  )
})

function idIn(lines: readonly string[] | undefined): string {
  return lines?.[0]?.split(' ')[0] ?? 'none'
}

/** A relay that can be killed and comes back at the same address, and the programs of a language. */
async function startStage(language: Language) {
  const dir = temporaryDataDir()
  const key = await createKey(dir.path)
  const serve = (port: number) =>
    RelayProcess.start({ dataDir: dir.path, port, environment: SIMULATED })
  const programs = await ClientPrograms.layOut(language)
  let relay = await serve(0)
  const { port, url } = relay
  const api = new ApiClient(() => url, key)
  const start = (example: string, environment: Readonly<Record<string, string>> = {}) =>
    programs.start(example, { ...key, url, environment })
  const replies = async () => {
    const { data } = await api.ask<List<Message>>('GET', '/api/v1/messages?direction=inbound')
    return data.length
  }
  const restart = async () => void (relay = await serve(port))
  return {
    programs,
    api,
    start,
    replies,
    restart,
    /** Resolves once a client has connected to the address of the relay, and was hung up on. */
    async connectedInVain() {
      const { promise, resolve } = Promise.withResolvers<void>()
      const open = (socket: { end(): void }) => {
        socket.end()
        resolve()
      }
      const listener = Bun.listen({ hostname: '127.0.0.1', port, socket: { open, data() {} } })
      await promise
      listener.stop(true)
    },
    get relay() {
      return relay
    },
    run: (example: string) => start(example).end(),
    send: (to: string, text: string) =>
      api.request('POST', '/api/v1/messages/send', { body: { to, text } }),
    async killRelay() {
      await relay.end('SIGKILL')
      await restart()
    },
    /** Resolves once the readers together have printed so many replies, and stand behind the newest event. */
    allRead: (readers: readonly { readonly lines: readonly string[] }[], count: number) =>
      eventually(
        'all is read',
        async () => {
          const newest = await api.ask<{ next_cursor: string }>(
            'GET',
            '/api/v1/events?after=latest',
          )
          const place = await Bun.file(programs.file('place.txt')).text()
          const read = readers.flatMap(({ lines }) => lines).length
          return read >= count && place === newest.next_cursor ? true : null
        },
        WAIT_MS_MAX,
      ),
    async [Symbol.asyncDispose]() {
      await relay.end('SIGKILL')
      programs[Symbol.dispose]()
      dir[Symbol.dispose]()
    },
  }
}

type SignedCase = {
  readonly what: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly secrets: readonly string[]
  readonly now: number
  /** The id of the event, or the code of the error. */
  readonly expected: string
}

type Deed = (given: SignedCase, other: string) => Partial<SignedCase>

/** Something done to a request on its way, or to its receiver; most must be refused. */
const DEEDS: readonly (readonly [what: string, isTaken: boolean, deed: Deed])[] = [
  ['nothing', true, () => ({})],
  ['another body', false, ({ body }) => ({ body: body.replace('message', 'massage') })],
  ['a longer body', false, ({ body }) => ({ body: `${body} ` })],
  ['another id', false, ({ headers }) => ({ headers: { ...headers, 'webhook-id': 'evt_other' } })],
  ['a later time', false, ({ headers, now }) => ({ headers: stamped(headers, now + 1) })],
  ['no signature', false, ({ headers }) => ({ headers: { ...headers, 'webhook-signature': '' } })],
  ['a signature of another version', false, ({ headers }) => ({ headers: versioned(headers) })],
  ['no time', false, ({ headers }) => ({ headers: { ...headers, 'webhook-timestamp': '' } })],
  ['299 seconds', true, ({ now }) => ({ now: now + 299 })],
  ['301 seconds', false, ({ now }) => ({ now: now + 301 })],
  ['a clock 301 seconds behind', false, ({ now }) => ({ now: now - 301 })],
  ['a receiver with another secret', false, (_, other) => ({ secrets: [other] })],
  [
    'a receiver with both secrets',
    true,
    ({ secrets }, other) => ({ secrets: [other, ...secrets] }),
  ],
  ['headers in capitals', true, ({ headers }) => ({ headers: inCapitals(headers) })],
]

function stamped(headers: SignedCase['headers'], time: number): SignedCase['headers'] {
  return { ...headers, 'webhook-timestamp': String(time) }
}

function versioned(headers: SignedCase['headers']): SignedCase['headers'] {
  const signature = headers['webhook-signature']?.replaceAll('v1,', 'v2,') ?? ''
  return { ...headers, 'webhook-signature': signature }
}

function inCapitals(headers: SignedCase['headers']): SignedCase['headers'] {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.toUpperCase(), value]),
  )
}

/** Signed by the relay's own code, every other one with the secrets of a rotation. */
function signedCases(count: number): readonly SignedCase[] {
  return Array.from({ length: count }, (_, index) => {
    const [secret, before, other] = [secretOf(index), secretOf(index + 0.1), secretOf(index + 0.2)]
    const signing = index % 2 === 0 ? [secret] : [before, secret]
    const id = `evt_${index}`
    const now = 1_790_000_000 + index
    const body = JSON.stringify({ event: 'message.received', text: `Grüße ${index} \u{1F44B}` })
    const headers = signedHeaders({ id, timestamp: now, body }, signing)
    const [what, isTaken, deed] = DEEDS[index % DEEDS.length] ?? ['nothing', true, () => ({})]
    const expected = isTaken ? id : 'invalid_signature'
    const given = { what, headers, body, secrets: [secretText(secret)], now, expected }
    return { ...given, ...deed(given, secretText(other)) }
  })
}

function secretOf(seed: number): Uint8Array {
  return new Bun.CryptoHasher('sha256').update(String(seed)).digest()
}

const JUDGES: Readonly<Record<Language, string>> = {
  typescript: `
    import { HooklineError, verifyWebhook } from './hookline.ts'
    const results: string[] = []
    for (const { headers, body, secrets, now } of await Bun.file('cases.json').json()) {
      const given = results.length % 3 === 0 ? new TextEncoder().encode(body) : body
      const known = results.length % 5 === 0 ? new Headers(headers) : headers
      try {
        results.push((await verifyWebhook({ headers: known, body: given }, secrets, { now })).id)
      } catch (error) {
        results.push(error instanceof HooklineError ? error.code : String(error))
      }
    }
    console.log(JSON.stringify(results))`,
  python: `
import json
from hookline import HooklineError, verify_webhook
results = []
for case in json.load(open("cases.json")):
    body = case["body"].encode() if len(results) % 3 == 0 else case["body"]
    try:
        results.append(verify_webhook(case["headers"], body, case["secrets"], now=case["now"]).id)
    except HooklineError as error:
        results.append(error.code)
print(json.dumps(results))`,
}
