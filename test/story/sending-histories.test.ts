// Random histories of messages with files: whatever devices answer, report and claim, in whatever order,
// no message says more than was proven, and none that may have left is handed over again.

import { expect, test } from 'bun:test'

import * as fc from 'fast-check'

import { deviceHandle } from '../../src/domain/handle.ts'
import type { AttachmentId, MessageId } from '../../src/domain/ids.ts'
import type { Message } from '../../src/domain/message.ts'
import type { SendOutcome, Settlement } from '../../src/lines/driver.ts'
import { attachmentsOf } from '../../src/storage/attachments.ts'
import { findMessage } from '../../src/storage/messages.ts'
import { startRich, type RichRelay } from '../support/rich-relay.ts'
import { SCALE, SEED } from '../support/scale.ts'
import { guidOf, type SendScript } from '../support/scripted-driver.ts'
import { TEST_START } from '../support/test-clock.ts'

const HISTORIES = 200 * SCALE
const FILES = 2

const KINDS = ['accepted', 'held', 'partly_sent', 'unknown', 'refused', 'line_refused'] as const
const outcomes = fc.record({
  kind: fc.constantFrom(...KINDS),
  /** How many of its files went. */
  sent: fc.integer({ min: 0, max: FILES }),
})
type Outcome = typeof outcomes extends fc.Arbitrary<infer T> ? T : never

const steps = fc.oneof(
  fc.record({ step: fc.constant('settled' as const), outcome: outcomes, isProof: fc.boolean() }),
  fc.record({
    step: fc.constant('receipt' as const),
    part: fc.integer({ min: 0, max: FILES }),
    kind: fc.constantFrom('sent', 'delivered', 'read', 'failed'),
  }),
  fc.record({ step: fc.constant('time' as const), ms: fc.constantFrom(1_000, 40_000, 700_000) }),
)

const histories = fc.record({
  hasText: fc.boolean(),
  /** Answers of the device, one for each time that it is given the message. */
  answers: fc.array(outcomes, { minLength: 1, maxLength: 4 }),
  steps: fc.array(steps, { maxLength: 5 }),
})
type History = typeof histories extends fc.Arbitrary<infer T> ? T : never

type Sending = { readonly files: readonly AttachmentId[]; readonly guids: readonly string[] }

function outcomeOf({ kind, sent }: Outcome, { files, guids }: Sending): SendOutcome {
  const [guid = '', ...partGuids] = guids
  const reason = 'send_timed_out'
  switch (kind) {
    case 'accepted':
    case 'held':
      return { outcome: kind, guid, partGuids }
    case 'partly_sent':
    case 'unknown':
      return { outcome: kind, reason, sent: files.slice(0, kind === 'unknown' ? sent : 1) }
    case 'refused':
      return { outcome: 'not_sent', reason, blame: 'message' }
    case 'line_refused':
      return { outcome: 'not_sent', reason, blame: 'line' }
  }
}

let guids = 10_000

/** Answers of the device to each recipient, and those that it has given. */
type Script = {
  readonly history: History
  readonly sending: Sending
  readonly given: Outcome[]
  /** The device has proven that nothing was handed over. */
  isProven: boolean
  marks: readonly (boolean | null)[]
}

const scripts = new Map<string, Script>()

const answers: SendScript = async ({ to }, pointOfNoReturn) => {
  const script = scripts.get(to)
  if (script === undefined || !(await pointOfNoReturn('note'))) {
    return { outcome: 'not_sent', reason: 'withdrawn', blame: 'line' }
  }
  const { history, sending, given } = script
  const answer = history.answers[given.length] ?? { kind: 'refused', sent: 0 }
  given.push(answer)
  return outcomeOf(answer, sending)
}

/** Lets one message live through a history. */
async function live(relay: RichRelay, files: readonly AttachmentId[], history: History) {
  const parts = FILES + (history.hasText ? 1 : 0)
  const sending = { files, guids: Array.from({ length: parts }, () => guidOf((guids += 1))) }
  const script: Script = { history, sending, given: [], isProven: false, marks: [] }
  const to = deviceHandle(`+1555${(guids += 1)}00`)
  scripts.set(to, script)
  await relay.device.receive({ guid: guidOf(guids), handle: to })
  const text = history.hasText ? { text: `hello ${guids}` } : {}
  const asked = { to, ...text, attachments: files.map((id) => ({ id })) }
  const { body } = await relay.send(asked, { Prefer: 'respond-async' })
  const id: MessageId = body.id
  await relay.clock.advance(10)
  check(relay, id, script)
  for (const step of history.steps) {
    await take(relay, id, step, script)
    check(relay, id, script)
  }
}

async function take(
  { device, clock }: RichRelay,
  messageId: MessageId,
  step: History['steps'][number],
  script: Script,
): Promise<void> {
  if (step.step === 'time') await clock.advance(step.ms)
  else if (step.step === 'receipt') {
    const guid = script.sending.guids[step.part] ?? ''
    if (guid !== '') await device.report(guid, step.kind, TEST_START)
  } else {
    const proof = step.isProof ? { proof: true as const } : {}
    const outcome = { ...outcomeOf(step.outcome, script.sending), ...proof } as Settlement // Proof is of `not_sent`.
    script.isProven ||= step.isProof
    await device.emit({ type: 'settled', messageId, outcome })
    await clock.advance(10)
  }
}

/** All that must hold of a message at any time. */
function check({ db }: RichRelay, id: MessageId, script: Script): void {
  const message = findMessage(db, id)
  if (message === null) throw new Error('A message is gone.')
  const marks = attachmentsOf(db, id).map(({ isSent }) => isSent)
  expect(marks).toHaveLength(FILES)
  expect(contradiction(message, marks)).toBeNull()
  const isLost = script.marks.some((mark, place) => mark === true && marks[place] !== true)
  if (message.status === 'uncertain') expect(isLost).toBe(false)
  script.marks = marks
  // Only what the line refused as a whole is handed over again, or what it proves to be unsent.
  for (const { kind, sent } of script.given.slice(0, -1)) {
    const isUnsent = kind === 'unknown' && sent === 0 && script.isProven
    expect(isUnsent || kind === 'line_refused').toBe(true)
  }
}

type Marks = readonly (boolean | null)[]

/** Null where the message says what its parts say. */
function contradiction({ status, error, sentAt }: Message, marks: Marks): string | null {
  const isTrue =
    status === 'failed' ? isTrueFailure(error?.code, sentAt, marks) : AGREES[status](marks)
  return isTrue ? null : `${status} ${error?.code} ${JSON.stringify(marks)}`
}

const isAll = (marks: Marks) => marks.every((mark) => mark === true)

const AGREES: Readonly<Record<Exclude<Message['status'], 'failed'>, (marks: Marks) => boolean>> = {
  queued: (marks) => marks.every((mark) => mark === null),
  deferred: (marks) => marks.every((mark) => mark === null),
  sending: () => true,
  sent: isAll,
  delivered: isAll,
  read: isAll,
  uncertain: (marks) => !marks.includes(false),
  expired: (marks) => !marks.includes(true),
  received: () => false,
}

function isTrueFailure(code: string | undefined, sentAt: number | null, marks: Marks): boolean {
  if (code === 'partly_sent') return marks.some((mark) => mark !== false)
  return sentAt !== null || !marks.includes(true)
}

test(`${HISTORIES} histories of messages with files never contradict themselves`, async () => {
  await using relay = await startRich()
  relay.device.script = answers
  const files = [await relay.file('one'), await relay.file('two')]
  await fc.assert(
    fc.asyncProperty(histories, (history) => live(relay, files, history)),
    { numRuns: HISTORIES, seed: 18 + SEED, endOnFailure: true },
  )
}, 120_000)
