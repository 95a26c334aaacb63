import type { PhoneChoice } from '../../../src/domain/value-kind.ts'
import type { LaunchTrouble } from '../../../src/lines/kinds/iphone/agent/launch-trouble.ts'
import type { LaunchPhone } from '../../../src/lines/kinds/iphone/agent/launcher.ts'
import { PhoneAgent } from '../../../src/lines/kinds/iphone/agent/wda.ts'
import { createIphoneDriver, type IphoneDriver } from '../../../src/lines/kinds/iphone/driver.ts'
import type { PhoneLauncher } from '../../../src/lines/kinds/iphone/phone-life.ts'
import { whenAborted } from '../../../src/system/clock.ts'
import { recordingLog } from '../recording-log.ts'
import { TestClock } from '../test-clock.ts'
import { seededRandom } from '../test-relay.ts'
import { FakeCable } from './fake-cable.ts'
import { directExchange } from './fake-wda.ts'
import { MessagesPhone } from './messages-phone.ts'
import { WdaCommands } from './wda-commands.ts'

const ALL = [{ udid: null, number: null }]

/** A phone with an agent on it. */
export type RigPhone = {
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

  constructor(udids: readonly string[]) {
    this.phones = udids.map((udid) => {
      const phone = new MessagesPhone(this.clock)
      return { udid, phone, commands: new WdaCommands(phone) }
    })
  }

  /** A driver as a new process makes it. */
  driver(phones: readonly PhoneChoice[] = ALL): IphoneDriver {
    const { clock, cable, launcher, log } = this
    return createIphoneDriver(
      { phones, agentPort: 8100 },
      {
        clock,
        cable,
        launcher: launcher.isLeftToOwner ? null : launcher,
        log: log.log,
        random: seededRandom(1),
        agentOf: (udid) => PhoneAgent.over(directExchange(this.of(udid).commands), clock),
      },
    )
  }

  of(udid: string): RigPhone {
    const phone = this.phones.find((one) => one.udid === udid)
    if (phone === undefined) throw new Error(`No phone ${udid}.`)
    return phone
  }

  unplug(udid: string): void {
    this.of(udid).commands.isUnplugged = true
    this.cable.detach(udid)
  }

  plugIn(udid: string): void {
    this.of(udid).commands.isUnplugged = false
    this.cable.attach(udid)
  }
}
