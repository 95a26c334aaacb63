/** Where usbmuxd listens: a Unix socket, or a port of a computer that the phones hang on. */
export type MuxAddress =
  | { readonly path: string }
  | { readonly host: string; readonly port: number }

/** The same place on macOS and Linux. */
const DEFAULT_PATH = '/var/run/usbmuxd'
/** `sun_path` of macOS, the shorter one, has 104 bytes with its closing zero. */
const PATH_BYTES_MAX = 103

const UNIX_FORM = /^(?:unix:\/\/|unix:|(?=\/))(\/[^\0]*)$/i
const TCP_FORM = /^(?:tcp:\/\/)?(\[[0-9a-f:.]+\]|[a-z0-9.-]+):([0-9]{1,5})$/i

/**
 * The address that `text` names, in the forms of the environment variable USBMUXD_SOCKET_ADDRESS:
 * `UNIX:/path` and `host:port` as libusbmuxd has them, `unix:///path` and `tcp://host:port` as go-ios
 * does, and a plain `/path`. Null is the usual place. Throws a RangeError for anything else.
 */
export function muxAddress(text: string | null): MuxAddress {
  if (text === null) return { path: DEFAULT_PATH }
  const path = UNIX_FORM.exec(text)?.[1]
  if (path !== undefined && Buffer.byteLength(path) <= PATH_BYTES_MAX) return { path }
  const [, host, digits] = TCP_FORM.exec(text) ?? []
  const port = Number(digits)
  if (host !== undefined && port >= 1 && port <= 65_535) {
    return { host: host.replace(/^\[|\]$/g, ''), port }
  }
  throw new RangeError('An address of usbmuxd is like /var/run/usbmuxd, UNIX:/path or host:port.')
}
