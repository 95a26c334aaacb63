import { RefusedError } from '../api/client.ts'
import type { AnyEvent } from '../api/webhooks.ts'
import { groupedNumber } from '../domain/handle.ts'
import { EVENT_NAMES } from '../domain/webhook.ts'
import { systemClock } from '../system/clock.ts'
import { stopSignal } from '../system/own-process.ts'
import {
  EXIT,
  SITE_OPTION,
  UsageError,
  listIn,
  type Call,
  type Command,
  type ExitCode,
} from './command.ts'
import type { ControlClient, EventPlace } from './control-client.ts'
import { OutputError } from './output.ts'
import { runningRelay } from './own-file.ts'
import { handleOption } from './recipient.ts'
import { clockCell, row, type Line } from './table.ts'

export const TAIL_COMMAND: Command = {
  name: 'tail',
  options: [
    { name: 'line', value: 'ID', ids: 'lines', sentence: 'Only this line (id or number).' },
    SITE_OPTION,
    { name: 'event', value: 'NAMES', sentence: `Only these events: ${EVENT_NAMES.join(', ')}.` },
    { name: 'handle', value: 'HANDLE', sentence: 'Only messages to and from this person.' },
    { name: 'from', value: 'HANDLE', sentence: 'Only messages from this person.' },
  ],
  sentence: 'Print events as they happen, one per line.',
  run: tail,
}

const RECONNECT_MS = 1_000

/** Prints events until Ctrl-C. After a restart of the relay, resumes from the last event. */
async function tail(call: Call): Promise<ExitCode> {
  const { out } = call
  const client = await runningRelay(call)
  const isSelected = await selectionOf(call, client)
  const { data: lines } = await client.ask('listPhoneLines')
  const numbers = new Map(lines.map((line) => [line.id, line.phone_number]))
  const stop = stopSignal()
  let isLost = false
  let after: string | null = null
  const nameOf = namesOf(client)
  const siteId = call.options.get('site')
  const take = async ({ id, event }: EventPlace) => {
    if (isLost) out.note('The relay is back.')
    isLost = false
    after = id ?? after
    if (event === null) return
    const line = event.phone_line_id ?? 'all lines'
    const number = numbers.get(line) ?? line
    if (!isSelected(event, number)) return
    out.data(event, [eventLine(event, number, await nameOf(handleOf(event)))])
  }
  while (!stop.aborted) {
    try {
      for await (const place of client.events(stop, { after, siteId })) await take(place)
    } catch (error) {
      if (error instanceof OutputError) throw error
      const isGone = error instanceof RefusedError && error.code === 'events_gone'
      // A restored relay may not have the last event.
      if (isGone) after = null
      else if (error instanceof RefusedError && error.status !== 503) throw error
    }
    if (stop.aborted) break
    if (!isLost) out.problem('The relay stopped. Waiting for it to come back; Ctrl-C ends.')
    isLost = true
    await systemClock.sleep(RECONNECT_MS, stop)
  }
  return EXIT.ok
}

/** Returns a test of an event, and of the number of its line, against the options. */
async function selectionOf(
  call: Call,
  client: ControlClient,
): Promise<(event: AnyEvent, number: string) => boolean> {
  const names = eventNamesOf(call)
  const [line, handle, from] = [
    await handleOption(call, client, 'line'),
    await handleOption(call, client, 'handle'),
    await handleOption(call, client, 'from'),
  ]
  return (event, number) =>
    (names === null || names.includes(event.event)) &&
    (line === undefined || line === event.phone_line_id || line === number) &&
    (handle === undefined || handle === handleOf(event)) &&
    (from === undefined || (from === handleOf(event) && !isFromMe(event)))
}

/** The contact's name for a handle, or the number. Each is asked for once. */
function namesOf(client: ControlClient): (handle: string) => Promise<string> {
  const known = new Map<string, Promise<string>>()
  const ask = async (handle: string) => {
    const isPerson = /^\+|@/.test(handle)
    // A relay that stops meanwhile must not cost an event.
    const found = isPerson ? client.find('getContact', { params: { handle } }) : null
    const contact = await Promise.resolve(found).catch(() => null)
    return contact?.name ?? groupedNumber(handle)
  }
  return (handle) => known.getOrInsertComputed(handle, ask)
}

function eventLine(event: AnyEvent, number: string, person: string): Line {
  const tone = event.event.endsWith('failed') ? 'bad' : null
  const people = `${groupedNumber(number)} ${isFromMe(event) ? '→' : '←'} ${person}`
  return row(
    clockCell(systemClock.now()),
    { text: event.event.padEnd(17), tone },
    people,
    textOfEvent(event).replaceAll(/\s+/g, ' '),
  )
}

function isFromMe(event: AnyEvent): boolean {
  return 'message' in event && ((event.message ?? event.reaction)?.isFromMe ?? false)
}

/** The person, or the group if the event is about the group itself. */
function handleOf(event: AnyEvent): string {
  if ('opt_out' in event) return event.opt_out.handle
  if ('alert' in event) return event.alert.about.id ?? event.alert.about.kind
  if (!('message' in event)) return event.conversation.name ?? event.conversation.chat_guid
  return event.message?.handle ?? event.reaction?.handle ?? ''
}

function textOfEvent(event: AnyEvent): string {
  if ('opt_out' in event) return event.opt_out.keyword ?? event.opt_out.source
  if ('alert' in event) return event.alert.title
  if (!('message' in event)) return [event.change, event.target].filter(Boolean).join(' ')
  return textOfMessage(event)
}

function textOfMessage(event: Extract<AnyEvent, { readonly message: unknown }>): string {
  const { reaction, message } = event
  const sign = reaction && `${reaction.action} ${reaction.emoji ?? reaction.type}: `
  const reason = message?.error && ` (${message.error.message})`
  return `${sign ?? ''}${message?.text ?? ''}${reason ?? ''}`
}

function eventNamesOf(call: Call): readonly string[] | null {
  const text = call.options.get('event')
  if (text === undefined) return null
  const names = listIn(text)
  const unknown = names.find((name) => !EVENT_NAMES.some((known) => known === name))
  if (unknown === undefined) return names
  throw new UsageError(`Unknown event ${unknown}. Events: ${EVENT_NAMES.join(', ')}.`)
}
