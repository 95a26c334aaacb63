// What the core does with one iPhone line: its run, its session and the sends in it are the real
// ones, so that a test hears what the core would.

import type { Phone as PhoneReport } from '../../../src/api/owner.ts'
import type { Handle } from '../../../src/domain/handle.ts'
import type { LineId } from '../../../src/domain/ids.ts'
import type { OutgoingMessage, Unsettled } from '../../../src/domain/message.ts'
import type {
  DeviceMessage,
  LineEvent,
  PointOfNoReturn,
  Settlement,
} from '../../../src/lines/driver.ts'
import type { LaunchPhone, LaunchTrouble } from '../../../src/lines/kinds/iphone/agent/launcher.ts'
import { PhoneAgent } from '../../../src/lines/kinds/iphone/agent/wda.ts'
import type { PhoneFacts } from '../../../src/lines/kinds/iphone/cable/lockdown.ts'
import { createIphoneDriver, type IphoneDriver } from '../../../src/lines/kinds/iphone/driver.ts'
import type { PhoneChoice } from '../../../src/lines/kinds/iphone/options.ts'
import type { PhoneLauncher } from '../../../src/lines/kinds/iphone/phone-life.ts'
import { LineRun } from '../../../src/lines/line-runner.ts'
import { LineSessions, NO_SESSION, type SendAnswer } from '../../../src/lines/session.ts'
import { whenAborted } from '../../../src/system/clock.ts'
import { testHost } from '../kind-host.ts'
import { recordingLog } from '../recording-log.ts'
import { TestClock } from '../test-clock.ts'
import { seededRandom } from '../test-relay.ts'
import { FakeCable } from './fake-cable.ts'
import { OTHER_UDID, UDID } from './fake-phones.ts'
import { directExchange, type Life } from './fake-wda.ts'
import { MessagesPhone } from './messages-phone.ts'
import { FRIEND, messageTo, NEVER, run } from './ui-rig.ts'
import { WdaCommands } from './wda-commands.ts'

const ALL = [{ udid: null, number: null }]

/** A phone with an agent on it. */
type RigPhone = {
  readonly udid: string
  readonly phone: MessagesPhone
  readonly commands: WdaCommands
}

/** A launcher that starts nothing, and says what a test wants. */
class FakeLauncher implements PhoneLauncher {
  /** True where the owner starts the agents, and the driver has no launcher. */
  isLeftToOwner = false
  prepareTrouble: LaunchTrouble | null = null
  launchTrouble: LaunchTrouble | null = null
  /** UDIDs in the order in which their agents were started, and stopped. */
  readonly launched: string[] = []
  readonly stopped: string[] = []
  /** UDIDs of agents whose output is no longer read. */
  readonly ignored: string[] = []
  readonly #ends = new Map<string, (trouble: LaunchTrouble) => void>()

  /** What was asked of it, in order, and what a test puts in between. */
  readonly asked: string[] = []
  /** UDIDs of phones for which it does not come to an end before it is called off. */
  readonly preparesForEver = new Set<string>()

  async prepare({ udid }: LaunchPhone, signal: AbortSignal): Promise<LaunchTrouble | null> {
    this.asked.push('prepare')
    if (this.preparesForEver.has(udid)) await whenAborted(signal)
    return this.prepareTrouble
  }

  launch({ udid }: LaunchPhone) {
    this.asked.push('launch')
    if (this.launchTrouble !== null) return this.launchTrouble
    this.launched.push(udid)
    const ended = Promise.withResolvers<LaunchTrouble>()
    this.#ends.set(udid, ended.resolve)
    const ignoreOutput = () => void this.ignored.push(udid)
    return { ended: ended.promise, ignoreOutput, stop: async () => void this.stopped.push(udid) }
  }

  /** The program that keeps an agent alive ends by itself. */
  end(udid: string, trouble: LaunchTrouble): void {
    this.#ends.get(udid)?.(trouble)
  }
}

/** A driver over phones of which only the screens are real: no sockets, and all time is the clock's. */
export class PhoneLineRig {
  readonly clock = new TestClock()
  readonly cable = new FakeCable()
  readonly launcher = new FakeLauncher()
  readonly log = recordingLog()
  readonly phones: readonly RigPhone[]
  #life: Life = { isOver: false }

  constructor(
    udids: readonly string[] = [UDID, OTHER_UDID],
    phoneOf = (clock: TestClock) => new MessagesPhone(clock),
  ) {
    this.phones = udids.map((udid) => {
      const phone = phoneOf(this.clock)
      return { udid, phone, commands: new WdaCommands(phone) }
    })
  }

  /** Two phones, of which the first is plugged in. */
  static plugged(facts: Partial<PhoneFacts> = {}): PhoneLineRig {
    const rig = new PhoneLineRig()
    rig.cable.attach(UDID, facts)
    return rig
  }

  /** The screen of the first phone, and what its agent does. */
  get phone(): MessagesPhone {
    return this.of().phone
  }

  get commands(): WdaCommands {
    return this.of().commands
  }

  /** A driver as a new process makes it. */
  driver(phones: readonly PhoneChoice[] = ALL): IphoneDriver {
    const { clock, cable, launcher, log } = this
    const life = this.#life
    return createIphoneDriver(testHost({ clock, log: log.log, random: seededRandom(1) }), phones, {
      cable,
      launcher: launcher.isLeftToOwner ? null : launcher,
      agentOf: (udid) => PhoneAgent.over(directExchange(this.of(udid).commands, life), clock),
    })
  }

  of(udid = UDID): RigPhone {
    const phone = this.phones.find((one) => one.udid === udid)
    if (phone === undefined) throw new Error(`No phone ${udid}.`)
    return phone
  }

  unplug(udid = UDID): void {
    this.of(udid).commands.isUnplugged = true
    this.cable.detach(udid)
  }

  plugIn(udid = UDID, facts: Partial<PhoneFacts> = {}): void {
    this.of(udid).commands.isUnplugged = false
    this.cable.attach(udid, facts)
  }

  /** The drivers of now are those of a process that was killed. */
  cutOff(): void {
    this.#life.isOver = true
    this.#life = { isOver: false }
  }
}

const LINE_ID = 'line_00000000000000000000000000' as LineId // A well-formed id; drivers only hand it on.
const STEP_MS = 250

type HostOptions = {
  readonly udid?: string
  readonly driver?: IphoneDriver
  readonly checkpoint?: string | null
  readonly unsettled?: readonly Unsettled[]
}

type HostSend = {
  readonly to?: Handle
  readonly id?: string
  readonly pass?: PointOfNoReturn
}

export class PhoneHost {
  readonly rig: PhoneLineRig
  readonly udid: string
  readonly driver: IphoneDriver
  /** All that was reported, in order. */
  readonly events: LineEvent[] = []
  /** What ended the line run by a failure. */
  readonly failures: string[] = []
  /** Events that cannot be made durable. */
  refuses: (event: LineEvent) => boolean = () => false
  /** How long it takes to make an event durable. */
  slownessMs: (event: LineEvent) => number = () => 0
  /** Notes of the points of no return that were granted. */
  readonly notes: (string | null)[] = []
  readonly #sessions: LineSessions
  readonly #attendance: LineRun
  #ended: Promise<void> = Promise.resolve()

  constructor(rig: PhoneLineRig, options: HostOptions = {}) {
    const { clock, log } = rig
    this.rig = rig
    this.udid = options.udid ?? UDID
    this.driver = options.driver ?? rig.driver()
    const nothing = () => {}
    this.#sessions = new LineSessions({ clock, log: log.log }, nothing, nothing)
    this.#attendance = new LineRun({
      take: (event) => this.#take(event),
      onFailure: (error) => {
        this.failures.push(error.message)
        this.#sessions.end()
      },
    })
  }

  /** Runs the line of a phone until `end`. */
  static async attend(rig: PhoneLineRig, options: HostOptions = {}): Promise<PhoneHost> {
    const host = new PhoneHost(rig, options)
    const found = await host.driver.discover(NEVER)
    const number = found.find(({ key }) => key === host.udid)?.number ?? ''
    const { checkpoint = null, unsettled = [] } = options
    const line = { id: LINE_ID, key: host.udid, number, checkpoint, unsettled, open: [] }
    host.#ended = host.#attendance.run(host.driver, line)
    return host
  }

  /** The same, until the line is online. */
  static async online(rig = PhoneLineRig.plugged(), options: HostOptions = {}): Promise<PhoneHost> {
    const host = await PhoneHost.attend(rig, options)
    await host.until(() => host.isOnline)
    return host
  }

  /** What the line said of its state, one after the other. */
  get said(): readonly string[] {
    return this.events.flatMap((event) => {
      if (event.type === 'offline') return [event.reason.code]
      if (event.type !== 'online') return []
      return [event.imessageActive ? 'online' : 'online without iMessage']
    })
  }

  get isOnline(): boolean {
    return this.said.at(-1)?.startsWith('online') === true
  }

  get report(): PhoneReport {
    const report = this.driver.reports().find(({ key }) => key === this.udid)
    if (report === undefined) throw new Error('The phone is not reported.')
    return report
  }

  /** The highest state that the phone has reached. */
  get state(): string | undefined {
    return this.report.states.findLast((stage) => stage.is_reached)?.state
  }

  get checkpoint(): string | null {
    const all = this.events.map((event) => ('checkpoint' in event ? event.checkpoint : null))
    return all.findLast((checkpoint) => checkpoint !== null) ?? null
  }

  get messages(): readonly DeviceMessage[] {
    return this.events.flatMap((event) => (event.type === 'message' ? [event.message] : []))
  }

  /** Texts of the messages that were reported. */
  get texts(): readonly string[] {
    return this.messages.map(({ text }) => text)
  }

  /** Kinds of the receipts that were reported. */
  get receipts(): readonly string[] {
    return this.events.flatMap((event) => (event.type === 'receipt' ? [event.receipt.kind] : []))
  }

  get settled(): readonly Settlement[] {
    return this.events.flatMap((event) => (event.type === 'settled' ? [event.outcome] : []))
  }

  /** Codes of what the health catalogue has of the phone. */
  async findings(): Promise<readonly string[]> {
    return (await this.driver.checkup(NEVER)).map(({ code }) => code)
  }

  /** Hands a message to the session, and lets no time pass. */
  begin(text: string, options: HostSend = {}): Promise<SendAnswer> {
    const { to = FRIEND, id = `msg_${text}`, pass = async () => true } = options
    const message = messageTo(to, text, id, this.rig.clock.now())
    const granting: PointOfNoReturn = async (note) => {
      const isGranted = await pass(note)
      if (isGranted) this.notes.push(note)
      return isGranted
    }
    return this.#sessions.current?.send(message, granting) ?? Promise.resolve(NO_SESSION)
  }

  /** Sends, and lets time pass until there is an answer. */
  send(text: string, options: HostSend = {}): Promise<SendAnswer> {
    return run(this.rig.clock, this.begin(text, options))
  }

  /** A message as a new run of the line gets it, if nobody knows what became of it. */
  unsettled(text: string, options: HostSend = {}): Unsettled {
    const { to = FRIEND, id = `msg_${text}` } = options
    const message: OutgoingMessage = messageTo(to, text, id, this.rig.clock.now())
    return { message, note: this.notes.at(-1) ?? null }
  }

  /** Lets time pass until something is so; fails if it is not within `msMax`. */
  async until(isSo: () => boolean, msMax = 600_000): Promise<void> {
    for (let ms = 0; !isSo(); ms += STEP_MS) {
      if (ms > msMax) throw new Error(`Not within ${msMax} ms; said: ${this.said.join(', ')}.`)
      await this.rig.clock.advance(STEP_MS)
    }
  }

  /** Ends the line run and waits for its sends. */
  async end(): Promise<void> {
    this.#attendance.end()
    this.#sessions.end()
    await run(this.rig.clock, Promise.all([this.#ended, this.#sessions.drained()]))
  }

  async #take(event: LineEvent): Promise<void> {
    if (this.refuses(event)) throw new Error('not durable')
    this.events.push(event)
    if (event.type === 'online') this.#sessions.open(event.session)
    if (event.type === 'offline') this.#sessions.end()
    const ms = this.slownessMs(event)
    if (ms > 0) await this.rig.clock.sleep(ms, NEVER)
  }
}
