import type { Attachments } from '../attachments/attachments.ts'
import type { AttachmentStore } from '../attachments/store.ts'
import type { LineId } from '../domain/ids.ts'
import type { Line } from '../domain/line.ts'
import type { SentenceOf } from '../domain/message.ts'
import type { Core } from '../storage/core.ts'
import type { Db } from '../storage/database.ts'
import { countByStatus } from '../storage/message-queue.ts'
import type { Clock } from '../system/clock.ts'
import type { Metrics } from '../system/metrics.ts'
import type { Signal } from '../system/signal.ts'
import type { Publish, PublishOther } from '../webhooks/publish.ts'
import { createConversationChanges } from './conversations.ts'
import { Decisions } from './decisions.ts'
import { DeviceChanges } from './device-changes.ts'
import { Attempts } from './dispatch-attempt.ts'
import { Dispatch } from './dispatch.ts'
import { Intake } from './intake.ts'
import { OptOuts } from './opt-outs.ts'
import { MessageQueue } from './queue.ts'
import { createReading } from './reading.ts'
import { Routing, takesMessages, waitReasonOf, type LineDirectory } from './routing.ts'
import { Sender } from './send.ts'
import { Outcomes } from './settle.ts'
import { WaitingCallers } from './waiting-callers.ts'

type Surroundings = {
  readonly directory: LineDirectory
  readonly publish: Publish & PublishOther
  readonly sentenceOf: SentenceOf
  readonly store: AttachmentStore
  readonly attachments: Pick<Attachments, 'fetch'>
  readonly disk: { readonly isLow: boolean; requireRoom(): void }
  readonly dispatchSignal: Signal
  readonly isStopping: () => boolean
  /** Called with a line on which two programs seem to answer each other. */
  readonly onLoop: (line: Line) => void
  /** The clock of callers that wait for an answer; the relay's own if left out. */
  readonly callerClock?: Clock | undefined
  /** The default wait for an answer, in milliseconds. */
  readonly waitMs: number
}

export function createMessages(core: Core, around: Surroundings) {
  const { directory, publish, sentenceOf, store, disk, dispatchSignal } = around
  const mayLeave = () => !around.isStopping() && !disk.isLow
  const waitReason = (id: LineId) => waitReasonOf(directory, id, !disk.isLow)
  const callers = new WaitingCallers(core, { waitReason, clock: around.callerClock })
  const deviceChanges = new DeviceChanges(core, { publish })
  const outcomes = new Outcomes(core, { publish, callers, sentenceOf, deviceChanges })
  const routing = new Routing(core, { directory })
  const queue = new MessageQueue(core, { directory, callers, routing, outcomes })
  const optOuts = new OptOuts(core, { publish, dispatchSignal, outcomes })
  return {
    callers,
    outcomes,
    optOuts,
    routing,
    intake: new Intake(core, {
      publish,
      practiceKinds: directory.practiceKinds,
      store,
      dispatchSignal,
      outcomes,
      queue,
      optOuts,
      deviceChanges,
    }),
    dispatch: new Dispatch(core, {
      dispatchSignal,
      directory,
      mayLeave,
      attempts: new Attempts(core, { directory, store, mayLeave, outcomes, queue }),
      outcomes,
      queue,
      routing,
      deviceChanges,
    }),
    sender: new Sender(core, {
      routing,
      practiceKinds: directory.practiceKinds,
      queue,
      callers,
      publish,
      dispatchSignal,
      store,
      attachments: around.attachments,
      disk,
      mayLeave,
      onLoop: around.onLoop,
      waitMs: around.waitMs,
    }),
    reading: createReading(core, { waitReason }),
    decisions: new Decisions(core, { outcomes, queue, waitReason, dispatchSignal }),
    conversationChanges: createConversationChanges(core, { waitReason, dispatchSignal }),
  }
}

/** Gauges for waiting messages and ready lines, computed when metrics are read. */
export function observeMessages(metrics: Metrics, db: Db, directory: Pick<LineDirectory, 'lines'>) {
  metrics.onCollect(() => {
    for (const status of ['queued', 'deferred', 'sending', 'uncertain'] as const) {
      const count = countByStatus(db, status)
      metrics.set('hookline_messages', 'Messages that are not settled.', count, { status })
    }
    for (const found of directory.lines()) {
      const labels = { line: found.line.id, driver: found.line.driver }
      const value = takesMessages(found) ? 1 : 0
      metrics.set('hookline_line_ready', 'Whether a line takes messages.', value, labels)
    }
  })
}
