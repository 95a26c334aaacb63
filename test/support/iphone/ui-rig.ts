import { expect } from 'bun:test'

import { deviceHandle, type Handle } from '../../../src/domain/handle.ts'
import { type MessageId, timestamp } from '../../../src/domain/ids.ts'
import type { OutgoingMessage } from '../../../src/domain/message.ts'
import type {
  DeviceMessage,
  LeftOutMessage,
  LineEvent,
  PointOfNoReturn,
  Settlement,
} from '../../../src/lines/driver.ts'
import { PhoneAgent, TaskQueue } from '../../../src/lines/kinds/iphone/agent/wda.ts'
import { ChatReader } from '../../../src/lines/kinds/iphone/screens/chat-reader.ts'
import { pollInbound } from '../../../src/lines/kinds/iphone/screens/inbound.ts'
import { OwnSends } from '../../../src/lines/kinds/iphone/screens/own-sends.ts'
import { sendByUi, type UiSend } from '../../../src/lines/kinds/iphone/screens/send.ts'
import { TranscriptMemory } from '../../../src/lines/kinds/iphone/screens/transcript-memory.ts'
import { TestClock } from '../test-clock.ts'
import { directExchange } from './fake-wda.ts'
import { MessagesPhone } from './messages-phone.ts'
import { WdaCommands } from './wda-commands.ts'

export const FRIEND = deviceHandle('+12025550123')
export const OTHER = deviceHandle('+12025550177')
export const OWN_NUMBER = '+12025550100'
export const NEVER = new AbortController().signal

type EndOfMessage = { readonly messageId: MessageId; readonly outcome: Settlement }
type BubbleMessage = Omit<DeviceMessage, 'isHistory'>
type Receipt = Extract<LineEvent, { readonly type: 'receipt' }>['receipt']

/** A line over the model of a phone, with what it reports. */
export function makeUiRig() {
  const clock = new TestClock()
  const phone = new MessagesPhone(clock)
  const commands = new WdaCommands(phone)
  const told = {
    messages: [] as BubbleMessage[],
    receipts: [] as Receipt[],
    leftOut: [] as LeftOutMessage[],
    settled: [] as EndOfMessage[],
    /** The memory as it was stored last, as a crash would find it. */
    memory: null as string | null,
    /** Whether nothing can be made durable. */
    refuses: false,
    /** Called before each event. */
    onEvent: () => {},
  }
  const first = line(clock, commands, null, told)
  return {
    clock,
    phone,
    commands,
    told,
    ...first,
    /** What a new process makes of the memory that was stored last. */
    restart: () => line(clock, commands, told.memory, told),
  }
}

export type UiRig = ReturnType<typeof makeUiRig>

/** A rig whose list was seen, with a friend in it who wrote before. */
export async function makeKnownLine(): Promise<UiRig> {
  const rig = makeUiRig()
  rig.phone.receive(FRIEND, 'before the line', { agoMs: 3_600_000 })
  await rig.poll()
  await rig.clock.advance(120_000)
  return rig
}

/** The texts that were reported, and whose they are. */
export function textsOf(rig: UiRig): readonly string[] {
  return rig.told.messages.map(({ isFromMe, text }) => `${isFromMe ? '>' : '<'} ${text}`)
}

/** How often the details of a chat were looked at. */
export function detailsAsked({ phone }: UiRig): number {
  return phone.detailsOpened
}

/** The texts that were reported, with the handles whose they are. */
export function toldOf(rig: UiRig): readonly string[] {
  return rig.told.messages.map(({ handle, text }) => `${handle} ${text}`)
}

/** What a poll reports if there is nothing. */
export const QUIET = { reportedCount: 0, groups: 0, gaps: 0 }

type Told = {
  readonly messages: BubbleMessage[]
  readonly receipts: Receipt[]
  readonly leftOut: LeftOutMessage[]
  readonly settled: EndOfMessage[]
  memory: string | null
  refuses: boolean
  onEvent: () => void
}

function line(clock: TestClock, commands: WdaCommands, stored: string | null, told: Told) {
  const life = { isOver: false }
  const memory = TranscriptMemory.fromText(stored, clock.now(), OWN_NUMBER)
  const emit = async (event: LineEvent) => {
    told.onEvent()
    if (life.isOver) await new Promise(() => {})
    if (told.refuses) throw new Error('not durable')
    if (event.type === 'message') {
      const { isHistory: _, ...message } = event.message
      told.messages.push(message)
    }
    if (event.type === 'receipt') told.receipts.push(event.receipt)
    if (event.type === 'left_out') told.leftOut.push(event.leftOut)
    if (event.type === 'settled') {
      told.settled.push({ messageId: event.messageId, outcome: event.outcome })
    }
    if ('checkpoint' in event) told.memory = event.checkpoint
  }
  const reader = new ChatReader(PhoneAgent.over(directExchange(commands, life), clock), clock, {
    memory,
    own: new OwnSends(),
    queue: new TaskQueue(),
    timeZone: () => 'UTC',
    emit,
  })
  return {
    reader,
    /** The process is killed: it asks, touches and stores nothing any more. */
    kill: () => {
      life.isOver = true
    },
    poll: async (signal = NEVER) => {
      const report = { ...QUIET }
      await run(clock, pollInbound(reader, signal, report))
      return report
    },
    send: (text: string, more: SendMore = {}): Promise<UiSend> => {
      const { to = FRIEND, pass = async () => true, signal = NEVER, id = 'msg_1' } = more
      const message = messageTo(to, text, id, clock.now())
      return run(clock, sendByUi(reader, message, pass, signal))
    },
  }
}

type SendMore = {
  readonly to?: Handle
  readonly pass?: PointOfNoReturn
  readonly signal?: AbortSignal
  readonly id?: string
}

export function messageTo(to: Handle, text: string, id: string, at: number): OutgoingMessage {
  return {
    id: id as MessageId, // Only handed on.
    to,
    text,
    createdAt: timestamp(at),
    platformGuid: null,
  }
}

/** Lets time pass until a promise has come to its end. */
export async function run<T>(clock: TestClock, promise: Promise<T>): Promise<T> {
  const state = { isOver: false }
  const over = promise.finally(() => {
    state.isOver = true
  })
  over.catch(() => {})
  for (let i = 0; i < 4_000 && !state.isOver; i += 1) await clock.advance(250)
  return await over
}

/** The name of a bubble. */
export const GUID = expect.stringMatching(
  /^ui-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/,
) as unknown as string // Matches such a text, as bun:test has it.

export const ACCEPTED: Settlement = { outcome: 'accepted', guid: GUID }

export function notSent(reason: string, blame: 'line' | 'message' = 'line'): Settlement {
  return { outcome: 'not_sent', reason, blame }
}

export function unknown(reason: string): Settlement {
  return { outcome: 'unknown', reason }
}
