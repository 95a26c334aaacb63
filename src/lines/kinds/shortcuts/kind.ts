import type { LineKind } from '../../line-kind.ts'
import { ShortcutsDriver } from './driver.ts'
import { SILENT } from './line-run.ts'

/** iPhones without a cable, whose shortcuts call the relay. */
export const SHORTCUTS_KIND: LineKind = {
  name: 'shortcuts',
  title: 'iPhone via Shortcuts',
  isReal: true,
  sharesNumber: false,
  options: {},
  reasons: {
    absent: {
      code: 'device_absent',
      title: 'The device is not connected',
      hint: 'The bridge of this line was removed: add one with its number, or delete the line.',
    },
    silent: { ...SILENT, title: 'No shortcut has checked for messages recently' },
  },
  failures: { refused_by_phone: 'The shortcut on the iPhone could not send the message.' },
  deletable: 'Shortcuts lines whose bridge was removed',
  checklist: [
    { title: "This line's bridge exists", codes: ['device_absent', 'driver_failed'] },
    { title: 'A shortcut checks for messages', codes: [SILENT.code] },
  ],
  create: (_options, { relayClock: clock, log, callers }) => {
    const driver = new ShortcutsDriver({ clock, log, bridges: callers })
    return { driver, calls: driver }
  },
}
