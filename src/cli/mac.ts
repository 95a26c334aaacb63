// `hookline mac trace`: explains to the owner of a Mac what the record will contain and what to do meanwhile. The
// driver makes the record.

import { closeSync, existsSync, openSync, writeSync } from 'node:fs'
import { homedir, platform, release } from 'node:os'
import { resolve } from 'node:path'

import { stdin } from 'bun'

import { RefusedError } from '../api/client.ts'
import type { HealthFinding } from '../api/health.ts'
import type { ServiceHost } from '../hosting/service-host.ts'
import type { TraceEntry } from '../lines/kinds/mac/trace.ts'
import { systemClock } from '../system/clock.ts'
import { stopSignal } from '../system/own-process.ts'
import { processRunner } from '../system/process.ts'
import { systemRandom } from '../system/random.ts'
import { VERSION } from '../system/version.ts'
import { type Call, type Command, EXIT, type ExitCode, NoRelayError } from './command.ts'
import type { ControlClient } from './control-client.ts'
import { writeLogLine } from './output.ts'
import { runningRelay } from './own-file.ts'

export const MAC_TRACE_COMMAND: Command = {
  name: 'mac trace',
  options: [{ name: 'to', value: 'FILE', sentence: 'Where it is written, not over another file.' }],
  sentence: 'Record how Messages writes down ten messages, without what they say.',
  run: trace,
}

const MESSAGES_WANTED = 10
const TRACE_MS_MAX = 600_000

type Places = { readonly database: string; readonly file: string }

async function trace(call: Call): Promise<ExitCode> {
  const { folder } = call.surroundings
  const { macChatDb } = call.loadConfig().config
  const { chatDbPath } = await import('../lines/kinds/mac/driver.ts')
  const database = resolve(folder, chatDbPath({ macChatDb }, homedir()))
  const file = resolve(folder, call.options.get('to') ?? 'hookline-mac-trace.ndjson')
  const refusal = refusalFor({ database, file })
  if (refusal !== null) {
    call.out.problem(refusal.sentence)
    return refusal.exitCode
  }
  const typed = typedLines()
  say(explanation({ database, file }))
  const answer = await typed.next()
  if (answer.value?.trim().toLowerCase() !== 'yes') {
    call.out.problem('Nothing was recorded.')
    return EXIT.failed
  }
  await recordInto(call, { database, file }, typed)
  return EXIT.ok
}

function refusalFor({ database, file }: Places): { sentence: string; exitCode: ExitCode } | null {
  if (existsSync(file)) {
    return { sentence: `${file} is there already: name another by --to.`, exitCode: EXIT.failed }
  }
  try {
    closeSync(openSync(database, 'r'))
    return null
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') {
      const sentence = `There is no ${database}: nobody has used Messages here so far.`
      return { sentence, exitCode: EXIT.failed }
    }
    const sentence =
      `${database} cannot be read. Give this terminal Full Disk Access in System Settings, ` +
      'Privacy & Security, and start it again.'
    return { sentence, exitCode: EXIT.notAllowed }
  }
}

function explanation({ database, file }: Places): readonly string[] {
  return [
    'This helps those who write Hookline to see how Messages on a real Mac does its work.',
    '',
    `It follows ${database} for ten minutes, changes nothing in it, and sends nothing.`,
    `Into ${file} it writes when messages, chats and handles`,
    'came or changed, with their dates, flags, row numbers and lengths, also of what others send you',
    'meanwhile, and how the runs of the script for Messages ended, if a relay runs.',
    'No text, name, number, address or guid: in the place of each stands a token that',
    'nobody can turn back. Nothing leaves this computer. Read the file before you give it to anybody.',
    '',
    'Type "yes" and Enter to begin.',
  ]
}

const INSTRUCTIONS = [
  '',
  `It records. Now send ${MESSAGES_WANTED} short texts, by Messages or by "hookline send", a few seconds apart:`,
  'some to a person who reads them, and one to a number without iMessage if you have one.',
  'Press Enter when the last one was read.',
]

async function recordInto(call: Call, { database, file }: Places, typed: AsyncGenerator<string>) {
  const descriptor = openSync(file, 'wx', 0o600)
  const count = { changes: 0, messages: 0 }
  const writeLine = (line: unknown) => writeSync(descriptor, `${JSON.stringify(line)}\n`)
  try {
    const system = `${platform()} ${release()}`
    writeLine({ t: 0, op: 'about', set: { hookline: VERSION, system } })
    const write = (entry: TraceEntry) => {
      writeLine(entry)
      count.changes += 1
      const { t, op, table, set } = entry
      const isOwnMessage =
        t > 0 && op === 'insert' && table === 'message' && set['is_from_me'] === 1
      if (!isOwnMessage) return
      count.messages += 1
      call.out.note(`${count.messages} of ${MESSAGES_WANTED} messages seen.`)
    }
    const startedAt = systemClock.now()
    const isWhole = await recordUntilEnter(database, write, typed)
    for (const entry of await scriptEntries(() => runningRelay(call), startedAt)) writeLine(entry)
    if (!isWhole) call.out.problem('More happened than a trace has room for: its end is missing.')
  } finally {
    closeSync(descriptor)
  }
  const { changes, messages } = count
  call.out.data({ file, changes, own_messages: messages }, [
    `Wrote ${file}. Changes: ${changes}; messages of yours: ${messages}.`,
  ])
}

/** Ends with Enter, Ctrl-C or the time; returns whether the record is complete. */
async function recordUntilEnter(
  path: string,
  write: (entry: TraceEntry) => void,
  typed: AsyncGenerator<string>,
): Promise<boolean> {
  const enter = new AbortController()
  const signal = AbortSignal.any([stopSignal(), enter.signal])
  const tools = { clock: systemClock, random: systemRandom }
  const { recordTrace } = await import('../lines/kinds/mac/trace.ts')
  const record = recordTrace({ path, forMs: TRACE_MS_MAX, write, ...tools }, signal)
  // The record has begun, so it includes the messages that the owner sends now.
  say(INSTRUCTIONS)
  // If standard input ends, nobody can press Enter, and only the time ends the record.
  const stopAtLine = typed.next().then(({ done }) => void (done !== true && enter.abort()))
  await Promise.race([record, stopAtLine])
  return (await record).isWhole
}

/** Reaches the owner at the terminal even if standard output is redirected. */
function say(lines: readonly string[]): void {
  for (const line of lines) writeLogLine(`${line}\n`)
}

/** The lines typed on standard input. */
export async function* typedLines(): AsyncGenerator<string> {
  let rest = ''
  const decoder = new TextDecoder()
  for await (const chunk of stdin.stream()) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    yield* lines
  }
}

export type ScriptEntry = {
  /** Milliseconds since the start of the trace; negative for the last known state of the accounts. */
  readonly t: number
  readonly op: 'script' | 'no_relay'
  readonly set: Readonly<Record<string, unknown>>
}

/**
 * Runs of the script for Messages since `startedAt` (milliseconds since 1970), oldest first: the relay
 * reports their stages, routes, durations and accounts.
 */
export async function scriptEntries(
  reach: () => Promise<Pick<ControlClient, 'ask'>>,
  startedAt: number,
): Promise<readonly ScriptEntry[]> {
  try {
    const client = await reach()
    const { data } = await client.ask('listScriptCalls', { timeoutMs: 5_000 })
    const all = data.map(({ at, ...set }): ScriptEntry => {
      return { t: Math.round(at - startedAt), op: 'script', set }
    })
    const known = all.findLast(({ t, set }) => t < 0 && set['mode'] === 'account')
    const since = all.filter(({ t }) => t >= 0)
    return known === undefined ? since : [known, ...since]
  } catch (error) {
    // The trace is useful without these rows. A relay of another version has no such route.
    const isExpected = error instanceof NoRelayError || error instanceof RefusedError
    if (isExpected) return [{ t: 0, op: 'no_relay', set: { why: error.name } }]
    throw error
  }
}

/**
 * Brings up the macOS dialog for permission to control Messages. macOS shows it at the first Apple event of a
 * program; public reports (of nanoclaw, on macOS 26) show no prompt for a LaunchAgent. TCC prompts for an app
 * launched on the screen under the same name, so that app runs the script once, harmlessly. Built by the manual
 * pages of open(1) and osascript(1), and not yet tried on a Mac. Absent from the help and the README.
 */
export const MAC_PERMIT_COMMAND: Command = {
  name: 'mac permit',
  sentence: 'Send Messages a harmless request, so that macOS asks for permission.',
  async run(call) {
    const { macOsascript: osascriptPath } = call.loadConfig().config
    const { askMessages } = await import('../lines/kinds/mac/driver.ts')
    const host = { run: processRunner(systemClock), clock: systemClock }
    if (await askMessages(host, osascriptPath, stopSignal())) return EXIT.ok
    call.out.problem(
      'Hookline is not allowed to control Messages, or there is no iMessage account.',
    )
    return EXIT.notAllowed
  },
}

/** Brings up the dialog if macOS refused the relay's own run of the script. */
export async function askForAutomation(
  { host, call, signal }: { host: ServiceHost; call: Pick<Call, 'out'>; signal: AbortSignal },
  findings: readonly Pick<HealthFinding, 'code'>[],
): Promise<void> {
  const isDenied = findings.some(({ code }) => code === 'automation_denied')
  if (!isDenied || host.launchApp === undefined) return
  call.out.note('macOS now asks whether Hookline can control Messages: click OK.')
  await host.launchApp(MAC_PERMIT_COMMAND.name.split(' '), signal)
}
