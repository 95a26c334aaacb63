// Runs the blocks of one guide on a live relay, and compares what is shown after them.

import { eventually } from '../../test/support/eventually.ts'
import { commandsOf, type Block, type Command } from './blocks.ts'
import { differences, missingWords } from './compare.ts'
import { runSample } from './samples.ts'
import { REASONS, whyBlockSkipped, whySkipped } from './skips.ts'
import { World } from './world.ts'

export type Outcome = {
  readonly block: Block
  readonly what: 'run' | 'compared' | 'skipped' | 'wrong'
  /** The reason why it was skipped, or what is wrong; empty for the others. */
  readonly note: string
}

/** What came before a block, for blocks that show an answer. */
type Before = { readonly block: Block; readonly json: unknown } | null

export async function checkGuide(
  markdown: string,
  blocks: readonly Block[],
): Promise<readonly Outcome[]> {
  await using world = await World.start(markdown)
  const outcomes: Outcome[] = []
  let before: Before = null
  for (const block of blocks) {
    const { outcome, json } = await outcomeOf(world, block, { before, blocks })
    outcomes.push(outcome)
    before = json === undefined ? null : { block, json }
  }
  return outcomes
}

type Around = { readonly before: Before; readonly blocks: readonly Block[] }

async function outcomeOf(
  world: World,
  block: Block,
  around: Around,
): Promise<{ readonly outcome: Outcome; readonly json?: unknown }> {
  const skipped = whyBlockSkipped(block.guide, block.language)
  if (skipped !== null) return { outcome: { block, what: 'skipped', note: REASONS[skipped] } }
  try {
    if (block.language === 'sh') return await shell(world, block)
    const problems =
      block.language === 'json'
        ? await json(world, block, around)
        : await runSample(world, block, around.blocks)
    const what = block.language === 'json' ? 'compared' : 'run'
    return { outcome: outcomeFor(block, what, problems) }
  } catch (error) {
    return { outcome: { block, what: 'wrong', note: String(error) } }
  }
}

function outcomeFor(block: Block, what: 'run' | 'compared', problems: readonly string[]): Outcome {
  if (problems.length === 0) return { block, what, note: '' }
  return { block, what: 'wrong', note: problems.join('; ') }
}

async function shell(
  world: World,
  block: Block,
): Promise<{ readonly outcome: Outcome; readonly json?: unknown }> {
  const commands = commandsOf(block)
  const problems: string[] = []
  const reasons = new Set<string>()
  let json: unknown
  for (const command of commands) {
    const reason = whySkipped(command.text)
    if (reason !== null) {
      reasons.add(REASONS[reason])
      continue
    }
    const local = world.localized(command.text)
    const ran = await world.run(local)
    if (ran.problem !== null) problems.push(`${local}: ${ran.problem}`)
    problems.push(...shownProblems(command, ran.output))
    json = parsed(ran.output)
  }
  const note = [...reasons].join(', ')
  const isSkipped = commands.every(({ text }) => whySkipped(text) !== null)
  if (isSkipped) return { outcome: { block, what: 'skipped', note } }
  const isCompared = commands.some(({ shown }) => shown.some(isShown))
  const outcome = outcomeFor(block, isCompared ? 'compared' : 'run', problems)
  return {
    outcome:
      note === '' || problems.length > 0 ? outcome : { ...outcome, note: `without: ${note}` },
    json,
  }
}

/** A comment that shows what is printed; others explain. */
const isShown = (comment: string) => /^(\{|HTTP\/|[a-z-]+: \S+$)/.test(comment)

function shownProblems({ shown }: Command, output: string): readonly string[] {
  return shown.filter(isShown).flatMap((comment) => {
    return missingWords(comment, output).map((word) => `the output has no ${word}`)
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function json(world: World, block: Block, { before }: Around): Promise<readonly string[]> {
  const shown: unknown = JSON.parse(block.text)
  const is = (name: string) => typeof shown === 'object' && shown !== null && name in shown
  if (is('event')) return differences(shown, await eventShown(world, shown), { isShape: true })
  if (is('mcpServers') || is('mcp')) return serverProblems(world, block.text)
  if (is('error') && !is('id')) return differences(shown, await refusal(world))
  if (block.guide === 'keys') return keyProblems(world, block.text)
  if (before !== null) return differences(shown, before.json)
  if (block.guide === 'events') return eventsProblems(world, shown)
  return ['nothing before it answers like this']
}

function eventShown(world: World, shown: unknown): Promise<unknown> {
  const { event, message } = shown as { event: string; message?: { attachments?: unknown } }
  const hasFiles = message?.attachments !== undefined && event === 'message.received'
  return hasFiles ? eventWithFile(world) : eventLike(world, event)
}

/** Makes a key with the fields that are shown. */
async function keyProblems(world: World, text: string): Promise<readonly string[]> {
  const shown = JSON.parse(world.localized(text)) as object
  const body = { name: 'Of the manual', scopes: ['read', 'send'], ...shown }
  const answer = await world.api.request('POST', '/api/v1/keys', { body })
  return answer.status === 201 ? [] : [`${answer.status} ${JSON.stringify(answer.body)}`]
}

/** The body of a test event, as a webhook of its own gets it. */
async function eventLike(world: World, event: string): Promise<unknown> {
  const { id } = await world.api.ask<{ id: string }>('POST', '/api/v1/webhooks', {
    url: world.receiver,
    events: [event],
  })
  await world.api.ask('POST', `/api/v1/webhooks/${id}/test`)
  return eventually(`a test of ${event}`, () => {
    const found = world.delivered.find(
      ({ headers, body }) => isTest(headers) && body.startsWith(`{"event":"${event}"`),
    )
    return found === undefined ? null : (JSON.parse(found.body) as unknown)
  })
}

const isTest = (headers: Readonly<Record<string, string>>) =>
  headers['webhook-id']?.startsWith('evt_test_') === true

/** The event of a picture that a practice number answers with. */
async function eventWithFile(world: World): Promise<unknown> {
  await world.api.ask('POST', '/api/v1/messages/send', { to: '+12025550188', text: 'A picture?' })
  return eventually('a picture comes', async () => {
    const path = '/api/v1/events?after=oldest&types=message.received'
    const { data } = await world.api.ask<{ data: readonly { payload: unknown }[] }>('GET', path)
    return (
      data.find(({ payload }) => JSON.stringify(payload).includes('"available"'))?.payload ?? null
    )
  })
}

async function refusal(world: World): Promise<unknown> {
  const { body } = await world.api.request('POST', '/api/v1/messages/send', {
    body: { to: '2025550123', text: 'Hello.' },
  })
  return body
}

/** A page of events; the manual shortens the message of one. */
async function eventsProblems(world: World, shown: unknown): Promise<readonly string[]> {
  await world.api.ask('POST', '/api/v1/messages/send', { to: '+12025550196', text: 'On my way.' })
  const page = await eventually('an event', async () => {
    const path = '/api/v1/events?after=oldest&types=message.received'
    const answer = await world.api.ask<{ data: readonly unknown[] }>('GET', path)
    return answer.data.length === 0 ? null : answer
  })
  return differences(shown, page, { isShape: true }).filter(
    (one) => !one.endsWith('is not shown') && !one.includes('has_more'),
  )
}

/** Starts the server of a configuration for agents' hosts, and asks it who it is. */
async function serverProblems(world: World, text: string): Promise<readonly string[]> {
  const config = JSON.parse(text.replaceAll('http://127.0.0.1:4665', world.url)) as {
    mcpServers?: Servers
    mcp?: { servers: Servers }
  }
  const server = (config.mcpServers ?? config.mcp?.servers)?.['hookline']
  if (server === undefined) return ['there is no server "hookline"']
  const { HOOKLINE_KEY: key, ...environment } = world.environment
  const child = Bun.spawn(['sh', '-c', 'exec "$0" "$@"', server.command, ...server.args], {
    env: {
      ...environment,
      ...(server.env?.HOOKLINE_KEY !== undefined && { HOOKLINE_KEY: key ?? '' }),
    },
    stdin: new TextEncoder().encode(`${JSON.stringify(INITIALIZE)}\n`),
    stdout: 'pipe',
    stderr: 'pipe',
    timeout: 10_000,
  })
  const output = await new Response(child.stdout).text()
  return output.includes('serverInfo') ? [] : [`it answered ${output.slice(0, 200)}`]
}

type Servers = Readonly<
  Record<
    string,
    {
      readonly command: string
      readonly args: readonly string[]
      readonly env?: { HOOKLINE_KEY?: string }
    }
  >
>

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'manual', version: '1' },
  },
}
