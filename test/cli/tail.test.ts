// `hookline tail` beside a stand-in for the relay, which stops and comes back.

import { expect, test } from 'bun:test'

import { eventually } from '../support/eventually.ts'
import { builtExecutable, cleanEnvironment } from '../support/executable.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { FakeRelay } from './fake-relay.ts'

const FAILED = { code: 'send_unconfirmed', message: 'It could not be confirmed.' }
const EVENTS = [
  ['message.read', 'line_a', { handle: '+12025550147', text: 'two\nlines', isFromMe: true }],
  ['message.received', 'line_b', { handle: '+12025550148', text: '\u001B[2Jhi', isFromMe: false }],
  [
    'message.failed',
    'line_b',
    { handle: '+12025550148', text: 'bye', isFromMe: true, error: FAILED },
  ],
].map(([event, phone_line_id, message]) => ({ event, phone_line_id, message }))

const TIME = String.raw`^\d{4}-\d\d-\d\dT[\d:.]+Z  `
const READ = new RegExp(`${TIME}message.read       \\+1 → Maya Fischer  two lines$`)
const RECEIVED = new RegExp(`${TIME}message.received   line_b ← \\+1 202 555 0148   \\[2Jhi$`)
const LOST = new RegExp(
  `${TIME}message.failed     line_b → .*0148  bye \\(It could not be confirmed.\\)$`,
)

const TAILS: readonly (readonly [args: readonly string[], shown: readonly RegExp[]])[] = [
  [[], [READ, RECEIVED, LOST]],
  [['--line', '+1'], [READ]],
  [
    ['--line', 'line_b'],
    [RECEIVED, LOST],
  ],
  [['--event', 'message.received, message.sent'], [RECEIVED]],
  [['--handle', '+12025550147'], [READ]],
  [['--from', '+1 202 555 0148'], [RECEIVED]],
]

for (const [args, shown] of TAILS) {
  test(`tail ${args.join(' ')} prints events as they come, until Ctrl-C`, async () => {
    using folder = new ScratchFolder()
    using _relay = relayIn(folder)
    await using tail = new Tail(folder, args)

    await eventually('all are printed', () => (tail.lines.length >= shown.length ? true : null))

    expect(await tail.end()).toBe(0)
    expect(tail.lines).toEqual(shown.map((line) => expect.stringMatching(line)))
    expect(tail.errors).toBe('')
  })
}

test('tail --site asks for the events of the lines of that site, wherever they move', async () => {
  using folder = new ScratchFolder()
  using relay = relayIn(folder)
  await using tail = new Tail(folder, ['--site', 'site_a'])

  await eventually('all are printed', () => (tail.lines.length >= EVENTS.length ? true : null))

  expect(relay.asked.map(({ path }) => path)).toContain('/api/v1/events/stream?site_id=site_a')
})

test('tail says once that the relay stopped, and goes on behind the last event when it is back', async () => {
  using folder = new ScratchFolder()
  const first = relayIn(folder)
  await using tail = new Tail(folder, ['--event', 'message.read'])
  await eventually('it began', () => (tail.lines.length > 0 ? true : null))

  first[Symbol.dispose]()
  await eventually('it noticed', () => (tail.errors === '' ? null : true))
  const starting = new FakeRelay(folder.path, () => Response.json({}, { status: 503 }))
  await eventually('it tried twice', () => (starting.asked.length > 1 ? true : null))
  starting[Symbol.dispose]()
  using second = relayIn(folder)
  await eventually('it goes on', () => (tail.lines.length >= 3 ? true : null))

  expect(tail.errors).toBe(
    'hookline: The relay stopped. Waiting for it to come back; Ctrl-C ends.\n',
  )
  expect(tail.lines.slice(1)).toEqual(['The relay is back.', expect.stringMatching(READ)])
  expect(second.headers.at(-1)?.get('last-event-id')).toBe('evt_2')
  expect(await tail.end()).toBe(0)
})

/** A relay whose stream of events stays open. */
function relayIn(folder: ScratchFolder): FakeRelay {
  const bytes = new TextEncoder().encode(
    EVENTS.map((event, i) => `id: evt_${i}\ndata: ${JSON.stringify(event)}\n\n`).join(''),
  )
  const lines = { data: [{ id: 'line_a', phone_number: '+1' }] }
  return new FakeRelay(folder.path, ({ path }) => {
    if (path.endsWith('/contacts/%2B12025550147')) return Response.json({ name: 'Maya Fischer' })
    if (path.includes('/contacts/')) return Response.json({}, { status: 404 })
    if (!path.includes('/events/stream')) return Response.json(lines)
    return new Response(new ReadableStream({ start: (stream) => stream.enqueue(bytes) }))
  })
}

class Tail implements AsyncDisposable {
  errors = ''
  #printed = ''
  readonly #child: Bun.Subprocess<'ignore', 'pipe', 'pipe'>

  constructor(folder: ScratchFolder, args: readonly string[]) {
    this.#child = Bun.spawn([builtExecutable(), 'tail', ...args], {
      env: cleanEnvironment({ HOOKLINE_DATA_DIR: folder.path }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    void this.#read(this.#child.stdout, (text) => (this.#printed += text))
    void this.#read(this.#child.stderr, (text) => (this.errors += text))
  }

  get lines(): readonly string[] {
    return this.#printed.split('\n').slice(0, -1)
  }

  /** Presses Ctrl-C; gives the exit code. */
  async end(): Promise<number> {
    this.#child.kill('SIGINT')
    return this.#child.exited
  }

  async #read(stream: ReadableStream<Uint8Array>, take: (text: string) => void): Promise<void> {
    for await (const chunk of stream) take(new TextDecoder().decode(chunk))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#child.exited
  }
}
