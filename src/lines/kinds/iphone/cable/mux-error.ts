/**
 * `absent`: nobody listens, so there are no phones. `denied`: the socket may not be opened. `refused`:
 * nothing on the phone listens on that port, or its cable has just gone. `bad_device`: the device is no
 * longer attached under that id. `bad_command`: usbmuxd does not know or want the request. `silent`: no
 * answer in time. `protocol`: it closed the connection, or said what is not of the protocol.
 */
export type MuxErrorCode =
  | 'absent'
  | 'denied'
  | 'refused'
  | 'bad_device'
  | 'bad_command'
  | 'silent'
  | 'protocol'

/** Something between us and usbmuxd, or between it and a phone. It quotes nothing of what was said. */
export class MuxError extends Error {
  override readonly name = 'MuxError'
  readonly code: MuxErrorCode

  constructor(code: MuxErrorCode, what: string) {
    super(`usbmuxd (${code}): ${what}`)
    this.code = code
  }
}
