// People and devices of a fake as the file of people and the faults of a test want them. The state is plain data, so
// that a snapshot holds it.

import { parseRecipient } from '../domain/handle.ts'
import type { MessageId } from '../domain/ids.ts'
import type { OutgoingMessage } from '../domain/message.ts'
import { PERSON, type Behaviour, type NetworkScript } from '../lines/kinds/simulated/behaviour.ts'
import type { SimulatedNetwork } from '../lines/kinds/simulated/network.ts'
import { isMagic, numberOfLine } from '../lines/kinds/simulated/people.ts'
import { play } from '../lines/kinds/simulated/script.ts'
import type { GotMessage, Words } from '../lines/kinds/simulated/writing.ts'
import type { WebhookCall } from './calls.ts'
import { behaviourWith, isOfDevice, isOfReceiver, type ActiveFault, type Fault } from './faults.ts'
import {
  EVERYBODY,
  fits,
  requireSense,
  type Answer,
  type PeopleFile,
  type Person,
} from './people-file.ts'

export type ScriptState = {
  file: PeopleFile
  /** The states of people, by their handles. */
  readonly states: Record<string, string>
  /** Counts of the answers that were given, by their places in the file. */
  readonly given: Record<string, number>
  /** The last try of each message. */
  readonly tries: Record<string, Try>
  faults: readonly ActiveFault[]
  /** The newest posts to webhooks, oldest first. */
  calls: readonly WebhookCall[]
}

type Try = { readonly behaviour: Behaviour | null; readonly answer: Answer | null }

const BEGINNING = 'start'
const SILENCE: Words = {}
const CALLS_MAX = 1_000

export class FakeScript implements NetworkScript {
  #state: ScriptState
  readonly #lineCount: number

  constructor(file: PeopleFile, lineCount: number) {
    this.#lineCount = lineCount
    this.#state = beginning(file)
  }

  /** For a snapshot. */
  state(): ScriptState {
    return structuredClone(this.#state)
  }

  /** Goes back to a snapshot. */
  resume(state: ScriptState): void {
    this.#state = structuredClone(state)
  }

  get file(): PeopleFile {
    return this.#state.file
  }

  get calls(): readonly WebhookCall[] {
    return this.#state.calls
  }

  get faults(): readonly ActiveFault[] {
    return this.#state.faults
  }

  /** Another file: everybody is in the first state again. Throws `invalid_request` if it makes no sense. */
  replace(file: PeopleFile, network: SimulatedNetwork): void {
    requireSense(file)
    this.#state = { ...beginning(file), calls: this.calls }
    this.begin(network)
  }

  /** Lets people write what they write by themselves, and begins the faults of the file. */
  begin(network: SimulatedNetwork): void {
    const { groups = [], starts = [], faults = [] } = this.#state.file
    this.clearFaults(network)
    for (const fault of faults) this.addFault(fault, network)
    for (const { from, line = numberOfLine(1), group: identifier, ...start } of starts) {
      const { say: text = '', files: attachments = [], after_seconds: seconds = 0 } = start
      const group = groups.find((one) => one.identifier === identifier)
      const at = network.now() + seconds * 1_000
      const event = { type: 'message', from, text, attachments, ...(group && { group }) } as const
      play({ network, line, at }, event)
    }
  }

  addFault(fault: Fault, network: SimulatedNetwork): void {
    const { times = 1, seconds } = fault
    const until = seconds === undefined ? null : network.now() + seconds * 1_000
    this.#state.faults = [...this.faults, { fault: { ...fault, times }, until }]
    this.#wakeLines(network)
  }

  clearFaults(network: SimulatedNetwork): void {
    this.#state.faults = []
    this.#wakeLines(network)
  }

  /** The next fault of a call to a receiver, which is used up. */
  faultOfCall(url: string, event: string | null): Fault | null {
    return this.#take((fault) => {
      const isMeant = url.includes(fault.url ?? '') && (fault.event ?? event) === event
      return isOfReceiver(fault) && isMeant
    })
  }

  addCall(call: Omit<WebhookCall, 'attempt'>): void {
    const { url, event_id } = call
    const before = this.calls.filter((one) => one.url === url && one.event_id === event_id)
    const attempt = (before.at(-1)?.attempt ?? 0) + 1
    this.#state.calls = [...this.calls, { ...call, attempt }].slice(-CALLS_MAX)
  }

  // NetworkScript

  readonly behaviourOf = (message: OutgoingMessage, line: string): Behaviour | null => {
    const decided = this.#decide(message, line)
    this.#state.tries[message.id] = decided
    return decided.behaviour
  }

  readonly lastBehaviourOf = ({ id }: { readonly id: MessageId }): Behaviour | null => {
    return this.#state.tries[id]?.behaviour ?? null
  }

  readonly answerOf = ({ message, from }: GotMessage): Words | null => {
    const person = this.#personNamed(from)
    if (person === null) return null
    const { group, text, messageId } = message
    const answer =
      group === undefined
        ? this.#state.tries[messageId]?.answer
        : this.#answerOf(person, from, { text, group: group.identifier })
    return answer ?? SILENCE
  }

  readonly offUntil = (line: string): number => {
    const times = this.faults
      .filter(({ fault }) => fault.fault === 'line_off' && (fault.line ?? line) === line)
      .map(({ until }) => until ?? Infinity)
    return Math.max(0, ...times)
  }

  #decide({ to, text, service, chatGuid }: OutgoingMessage, line: string): Try {
    const person = chatGuid === undefined ? this.#personNamed(to) : null
    const outOfReach = person && outOfReachOf(person, service)
    if (outOfReach) return { behaviour: outOfReach, answer: null }
    const answer = person && this.#answerOf(person, to, { text, group: undefined })
    const fault = this.#take((one) => {
      return isOfDevice(one) && (one.to ?? to) === to && (one.line ?? line) === line
    })
    const met = fault ?? (answer?.device && { fault: answer.device })
    return { behaviour: met ? behaviourWith(met) : person && withReceipts(person), answer }
  }

  /** The answer that fits, which counts as given. */
  #answerOf(
    person: Person,
    handle: string,
    message: { readonly text: string; readonly group: string | undefined },
  ): Answer | null {
    const { states, given, file } = this.#state
    const state = states[handle] ?? BEGINNING
    const isLeft = (place: string, times = Infinity) => (given[place] ?? 0) < times
    const placeOf = (index: number) => `${file.people?.indexOf(person)}.${index}`
    const { answers = [] } = person
    const index = answers.findIndex((answer, at) => {
      const isHere = answer.group === message.group && (answer.state ?? state) === state
      return isHere && isLeft(placeOf(at), answer.times) && fits(answer, message.text)
    })
    const answer = answers[index] ?? null
    given[placeOf(index)] = (given[placeOf(index)] ?? 0) + 1
    if (answer?.go_to !== undefined) states[handle] = answer.go_to
    return answer
  }

  #personNamed(handle: string): Person | null {
    const { people = [] } = this.#state.file
    const named = people.find(({ number }) => parseRecipient(number)?.handle === handle)
    if (named !== undefined || isMagic(handle, this.#lineCount)) return named ?? null
    return people.find(({ number }) => number === EVERYBODY) ?? null
  }

  /** The first fault that is meant. It is over once it was taken as often as it says. */
  #take(isMeant: (fault: Fault) => boolean): Fault | null {
    const { faults } = this.#state
    const index = faults.findIndex(({ fault }) => isMeant(fault))
    const found = faults[index]
    if (found === undefined) return null
    const { fault, until } = found
    const times = (fault.times ?? 1) - 1
    this.#state.faults = faults.toSpliced(
      index,
      1,
      ...(times > 0 ? [{ fault: { ...fault, times }, until }] : []),
    )
    return fault
  }

  #wakeLines(network: SimulatedNetwork): void {
    for (let line = 1; line <= this.#lineCount; line += 1) {
      network.signalOf(numberOfLine(line)).notify()
    }
  }
}

function beginning(file: PeopleFile): ScriptState {
  return { file, states: {}, given: {}, tries: {}, faults: [], calls: [] }
}

function outOfReachOf({ reach }: Person, service: string | undefined): Behaviour | null {
  if (reach === 'nothing') return { kind: 'no_sms' }
  return reach === 'sms' && service !== 'SMS' ? { kind: 'not_on_imessage' } : null
}

function withReceipts({ receipts = 'read' }: Person): Behaviour {
  return { ...PERSON, isDelivered: receipts !== 'none', isRead: receipts === 'read' }
}
