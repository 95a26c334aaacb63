import type { Clock } from '../../../src/system/clock.ts'
import type { FakeMux } from './fake-mux.ts'
import { fakePhone, type FakePhone } from './fake-phones.ts'
import { FakeWda } from './fake-wda.ts'
import { MessagesPhone } from './messages-phone.ts'
import { WdaCommands } from './wda-commands.ts'

const AGENT_PORT = 8_100

type Order = { readonly serial: string; readonly number: string; readonly clock: Clock }

/** A whole iPhone as the cable has it: lockdown on its port, an agent on another, Messages behind that. */
export class CablePhone implements Disposable {
  readonly device: FakePhone
  readonly screen: MessagesPhone
  readonly commands: WdaCommands
  readonly #agent: FakeWda
  #attachment: { readonly mux: FakeMux; readonly deviceId: number } | null = null

  private constructor(device: FakePhone, clock: Clock) {
    this.device = device
    this.screen = new MessagesPhone(clock)
    this.commands = new WdaCommands(this.screen)
    this.#agent = new FakeWda(this.commands)
    device.ports.set(AGENT_PORT, { serve: this.#agent.serve })
  }

  static async start({ serial, number, clock }: Order): Promise<CablePhone> {
    // Labels have the time of the phone: the model writes it in UTC.
    const values = { PhoneNumber: number, TimeZone: 'UTC' }
    return new CablePhone(await fakePhone(serial, { values }), clock)
  }

  plugIn(mux: FakeMux): void {
    this.commands.isUnplugged = false
    this.#attachment = { mux, deviceId: mux.attach(this.device) }
  }

  /** What the agent has begun by now it does not do any more, and its answer goes nowhere. */
  unplug(): void {
    this.commands.isUnplugged = true
    this.#attachment?.mux.detach(this.#attachment.deviceId)
    this.#attachment = null
  }

  [Symbol.dispose](): void {
    this.#agent.close()
    this.device.lockdown.stop()
  }
}
