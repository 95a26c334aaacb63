// `hookline connect`: makes the key or the webhook that another program needs, and prints what to enter there.

import type { CreatedKey } from '../api/keys.ts'
import type { CreatedWebhook } from '../api/webhooks.ts'
import {
  PROGRAMS,
  keyForProgram,
  needsPeople,
  type Entry,
  type KeyProgram,
  type Program,
  type WebhookProgram,
} from '../compat/programs.ts'
import { withScheme } from '../domain/webhook-url.ts'
import { NEVER, systemClock } from '../system/clock.ts'
import { EXIT, UsageError, listIn, type Call, type ExitCode } from './command.ts'
import type { ControlClient } from './control-client.ts'
import { runningRelay } from './own-file.ts'
import { recipientOf } from './recipient.ts'
import { relayAddress } from './status.ts'
import { table, type Line } from './table.ts'

const POLL_MS = 500
const WAIT_SECONDS_MAX = 3_600
const TEST_TEXT = 'This is a test of Hookline. Messages will come from this number.'

export async function connect(call: Call): Promise<ExitCode | undefined> {
  const program = PROGRAMS.find(({ name }) => name === call.args[0])
  if (program === undefined) return listPrograms(call)
  checkOptions(call, program)
  const client = await runningRelay(call)
  return program.makes === 'key'
    ? connectByKey(call, client, program)
    : connectByWebhook(call, client, program)
}

function listPrograms({ out }: Call): undefined {
  const rows = PROGRAMS.map(({ name, title, purpose }) => [name, title, purpose])
  const programs = PROGRAMS.map(({ name, title, purpose, guide, makes }) => {
    return { name, title, purpose, guide, makes }
  })
  out.data({ data: programs }, [table(['NAME', 'PROGRAM', 'WHAT IT DOES HERE'], rows)])
  out.note('Connect one: hookline connect NAME')
}

/** Refuses, before anything is made, what the program can't use. */
function checkOptions(call: Call, program: Program): void {
  const { options } = call
  const { title, name } = program
  if (program.makes === 'webhook' && !options.has('url')) {
    throw new UsageError(`Say where to post: hookline connect ${name} --url https://…`)
  }
  const hasPeople = peopleIn(call).length > 0
  if (needsPeople(program) && !hasPeople) {
    throw new UsageError(
      `${title} may write only to numbers that you name, such as your own: --to +12025550123`,
    )
  }
  if (options.has('test') && program.makes === 'key' && !hasPeople) {
    throw new UsageError('--test needs a number that gets the text: --to +12025550123')
  }
}

function peopleIn({ options }: Call): readonly string[] {
  return listIn(options.get('to') ?? '').filter((person) => person !== '')
}

async function connectByKey(call: Call, client: ControlClient, program: KeyProgram) {
  const people: string[] = []
  for (const written of peopleIn(call)) {
    people.push(await recipientOf(call, client, written))
  }
  const made = await client.ask('createKey', { body: keyForProgram(program, people) })
  const { id, key, secret, connect: said = {} } = made
  const relay = call.options.get('address') ?? relayAddress(call)
  const entries = program.enter({ relay, key, secret, connect: said, people })
  const undo = `The key was made, and nobody has its secret. Revoke it: hookline keys revoke ${id}`
  const lines = [
    `${program.title}: ${program.place}.`,
    ...entries.flatMap(linesOfEntry),
    '',
    ...(program.caution === undefined ? [] : [program.caution]),
    limitSentence(program, people),
    "Enter it now. You won't see the secret again.",
  ]
  call.out.data(answerOf(program, { key: made, entries }), lines, undo)
  noteWhere(call, program, { relay, id })
  await sendTest(call, client, people)
  return waitFor(call, program, { id }, () => firstUse(client, id))
}

function noteWhere(
  { out, options }: Call,
  { guide }: Program,
  { relay, id }: { readonly relay: string; readonly id: string },
): void {
  const local = /^(https?:\/\/)127\.[0-9.]+/
  if (!options.has('address') && local.test(relay)) {
    const address = relay.replace(local, '$1THIS-MACHINE')
    out.note(`Does it run elsewhere, or in a container? Add --address ${address}`)
  }
  out.note(`Revoke it at any time: hookline keys revoke ${id}`)
  out.note(`More: hookline guide ${guide.split('#')[0]}`)
}

async function connectByWebhook(call: Call, client: ControlClient, program: WebhookProgram) {
  const url = withScheme(call.options.get('url') ?? '')
  const webhook = await client.ask('createWebhook', { body: { url, events: [...program.events] } })
  const { id, secret } = webhook
  const entries: readonly Entry[] = [['Signing secret', secret]]
  const undo = `The secret was made, and nobody has it. Make another: hookline webhooks rotate-secret ${id}`
  call.out.data(
    answerOf(program, { webhook, entries }),
    [
      `Events go to ${webhook.url} (${id}).`,
      ...entries.flatMap(linesOfEntry),
      '',
      "Save the secret now. You won't see it again.",
    ],
    undo,
  )
  if (call.options.has('test')) {
    await client.ask('testWebhook', { params: { id } })
    call.out.note('A test event is on its way.')
  }
  return waitFor(call, program, { id }, () => firstDelivery(client, id))
}

function linesOfEntry([field, value]: Entry): readonly Line[] {
  return ['', `${field}:`, ...value.split('\n').map((line) => `  ${line}`)]
}

function limitSentence({ recipients = 'anyone' }: KeyProgram, people: readonly string[]): string {
  switch (recipients) {
    case 'anyone':
      return 'It may write to anyone.'
    case 'known':
      return 'It may write only to people who have written with your lines.'
    case 'replied_within_24h':
      return 'It may write only to people who wrote within 24 hours.'
    case 'list':
      return `It may write only to ${people.join(', ')}.`
  }
}

function answerOf(
  { name, title, guide }: Program,
  made: {
    readonly key?: CreatedKey
    readonly webhook?: CreatedWebhook
    readonly entries: readonly Entry[]
  },
) {
  const { entries, ...rest } = made
  const enter = entries.map(([field, value]) => ({ field, value }))
  return { program: name, title, guide, ...rest, enter }
}

async function sendTest(call: Call, client: ControlClient, [to]: readonly string[]) {
  if (!call.options.has('test') || to === undefined) return
  const headers = { 'idempotency-key': crypto.randomUUID(), prefer: 'wait=5' }
  const sent = await client.ask('sendMessage', { body: { to, text: TEST_TEXT }, headers })
  const { status, id, error } = sent
  const why = error === null ? '' : `: ${error.message}`
  call.out.note(`The test text to ${to} is ${status}${why} (${id}).`)
}

/** With `--wait`, waits until the program has called, and says so. A second document follows with `--json`. */
async function waitFor(
  call: Call,
  { title }: Program,
  { id }: { readonly id: string },
  calledAt: () => Promise<string | null>,
): Promise<ExitCode> {
  if (!call.options.has('wait')) return EXIT.ok
  const seconds = call.options.number('wait', { fallback: 60, max: WAIT_SECONDS_MAX })
  const until = systemClock.monotonic() + seconds * 1_000
  const first = async (): Promise<string | null> => {
    for (;;) {
      const at = await calledAt()
      if (at !== null || systemClock.monotonic() > until) return at
      await systemClock.sleep(POLL_MS, NEVER)
    }
  }
  const at = await call.out.during(`Waiting for ${title} to call`, first())
  const sentence =
    at === null
      ? `${title} has not called within ${seconds} seconds. The key goes on working.`
      : `${title} is connected: it called for the first time.`
  call.out.data({ id, first_call_at: at }, [sentence])
  return at === null ? EXIT.failed : EXIT.ok
}

async function firstUse(client: ControlClient, id: string): Promise<string | null> {
  const { data } = await client.ask('listKeys', { query: { limit: '200' } })
  return data.find((key) => key.id === id)?.last_used_at ?? null
}

async function firstDelivery(client: ControlClient, id: string): Promise<string | null> {
  const query = { status: 'succeeded', limit: '1' } as const
  const { data } = await client.ask('listWebhookDeliveries', { params: { id }, query })
  return data[0]?.completed_at ?? null
}
