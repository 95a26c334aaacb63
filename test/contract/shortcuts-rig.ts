import { deviceHandle } from '../../src/domain/handle.ts'
import { ShortcutsDriver } from '../../src/lines/kinds/shortcuts/kind.ts'
import { testHost } from '../support/kind-host.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { ShortcutsPhone } from '../support/shortcuts-phone.ts'
import { TestClock } from '../support/test-clock.ts'
import type { LineRig } from './line-rig.ts'

const BRIDGE = { key: 'brg_00000000000000000000000000', number: '+12025550147' }

/** An iPhone whose shortcuts call. It keeps what it could not post yet, and cannot be asked for more. */
export function makeShortcutsRig(): LineRig {
  const clock = new TestClock()
  const folder = new ScratchFolder()
  const pathOf = (name: string) => folder.file(name)
  const host = testHost({ clock, pathOf, callers: () => [BRIDGE] })
  const make = () => new ShortcutsDriver(host)
  let driver = make()
  const phone = new ShortcutsPhone(clock, BRIDGE.key, () => driver)
  phone.start()
  return {
    clock,
    driver,
    restart: () => {
      driver = make()
      return driver
    },
    recipient: deviceHandle('+12025550155'),
    startMs: 1_000,
    settleMs: 30_000,
    burst: Infinity,
    provesUnsent: false,
    canBeAsked: false,
    carried: (text) => phone.sent.filter((sent) => sent === text).length,
    receive: async (text) => phone.receive('+12025550166', text),
    receiveFile: async (text, bytes) => {
      phone.receive('+12025550166', text, new File([bytes.slice()], 'menu.pdf'))
      await phone.posted()
    },
    close: () => {
      phone.switchOff()
      folder[Symbol.dispose]()
    },
  }
}
