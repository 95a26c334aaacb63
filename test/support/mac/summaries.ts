// `message_summary_info` as Messages writes it.

import { binaryPropertyList, type Writable } from '../iphone/binary-plist-writer.ts'

/** The history of a message of which part 0 was unsent: nothing of it is left by its own account. */
export function retracted(): Uint8Array {
  return summaryOf({ otr: { '0': { lo: 0, le: 5 } }, rp: [0] })
}

function summaryOf(list: Readonly<Record<string, Writable>>): Uint8Array {
  return new Uint8Array(binaryPropertyList({ amc: 1, ust: true, ...list }))
}
