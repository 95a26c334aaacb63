import { deviceHandle } from '../../src/domain/handle.ts'
import { timestamp, type LineId, type MessageId } from '../../src/domain/ids.ts'
import type { Line } from '../../src/domain/line.ts'
import type { OutgoingMessage } from '../../src/domain/message.ts'
import type { IntakeEvent, LineDriver } from '../../src/lines/driver.ts'
import { LINE_KINDS } from '../../src/lines/kinds.ts'
import type { LineSnapshot } from '../../src/lines/line-state.ts'
import { type BoxDevices, LineSupervisor } from '../../src/lines/supervisor.ts'
import { saveCheckpoint } from '../../src/storage/lines.ts'
import { jsonLog } from '../../src/system/log.ts'
import { settle, type TestClock } from '../support/test-clock.ts'
import { openTestStorage } from '../support/test-storage.ts'

export type Logged = { readonly level: string; readonly message: string }

type TestStorage = ReturnType<typeof openTestStorage>
export type SupervisorRig = ReturnType<typeof createRig>

/** A supervisor on a test clock and a real database that is not started yet. */
export function createRig(
  drivers: readonly LineDriver[] | ((clock: TestClock) => readonly LineDriver[]),
  storage: TestStorage = openTestStorage(),
  boxes: BoxDevices = { absence: () => null, devices: () => [], linesMax: () => 10 },
) {
  const { clock, db, writer } = storage
  const logged: Logged[] = []
  const taken: { readonly line: Line; readonly event: IntakeEvent }[] = []
  const gate = { intake: async (_event: IntakeEvent): Promise<void> => {} }
  const log = jsonLog(
    (line) => logged.push(JSON.parse(line)),
    () => clock.now(),
  )
  const intake = async (line: Line, event: IntakeEvent) => {
    await gate.intake(event)
    taken.push({ line, event })
    const checkpoint = 'checkpoint' in event ? event.checkpoint : null
    if (checkpoint !== null) await writer.write((tx) => saveCheckpoint(tx, line.id, checkpoint))
  }
  const core = { ...storage.core, log }
  const supervisor = new LineSupervisor(core, {
    kinds: LINE_KINDS,
    drivers: typeof drivers === 'function' ? drivers(clock) : drivers,
    boxes,
    messages: { intake, loadUnfinished: () => ({ unsettled: [], open: [] }) },
  })
  const controller = new AbortController()
  let running: Promise<void> | null = null
  return {
    supervisor,
    clock,
    db,
    writer,
    logged,
    taken,
    gate,
    events: () => taken.map(({ event }) => event),
    async start() {
      running = supervisor.run(controller.signal)
      await settle()
    },
    /** Begins the stop; resolves with it. */
    async stop() {
      controller.abort()
      await running
    },
    /** Stops it, and lets the time pass that a stop waits for sends. */
    async [Symbol.asyncDispose]() {
      controller.abort()
      await clock.advance(60_000)
      await running
    },
    /** The only line that there is. */
    line(): LineSnapshot {
      const [only] = supervisor.lines()
      if (only === undefined) throw new Error('No line was found.')
      return only
    },
    reason(): string | null {
      const { state } = this.line()
      return state.status === 'offline' ? state.reason.code : null
    },
    send(text: string, pointOfNoReturn: (note: string | null) => Promise<boolean> = grant) {
      return supervisor.send(this.line().line.id, messageOf(text), pointOfNoReturn)
    },
  }
}

export async function startRig(
  drivers: readonly LineDriver[],
  storage?: TestStorage,
): Promise<SupervisorRig> {
  const rig = createRig(drivers, storage)
  await rig.start()
  return rig
}

export const grant = async () => true

/** A line as `discoveryOf` and those who show it get it. */
export const LINE: Line = {
  id: 'line_a' as LineId, // Any id does.
  driver: 'mac',
  key: 'a',
  box: null,
  movesTo: null,
  number: '+12025550111',
  label: null,
  dailyContactLimit: 50,
  isEnabled: true,
  quietHours: null,
  relaySms: false,
  relayGroups: false,
  checkpoint: null,
  createdAt: timestamp(1_795_255_200_000),
}

export const WENT_OFFLINE = {
  type: 'offline',
  reason: { code: 'unplugged', hint: 'Plug it in.' },
} as const

export const NO_LINE = 'line_00000000000000000000000000' as LineId // Well-formed, and of no line.

export function messageOf(text: string): OutgoingMessage {
  return {
    id: `msg_${text}` as MessageId, // Drivers take an id as it is.
    to: deviceHandle('+15550001111'),
    text,
    createdAt: timestamp(0),
    platformGuid: null,
  }
}

/** What `promise` gives, or `pending` while it gives nothing. */
export async function peek<T>(promise: Promise<T>): Promise<T | 'pending'> {
  await settle()
  return Promise.race([promise, Promise.resolve('pending' as const)])
}
