// Causes for which an agent could not be started: by the known words of the program that starts it, and with
// its last lines in any case. Such programs have exit codes for success and failure only.

import type { KeptEnd } from './kept-process.ts'

export type LaunchTroubleCode =
  /** The program that starts the agent is missing. */
  | 'launcher_absent'
  | 'launcher_too_old'
  /** Apple's disk image could not be mounted; mostly there is no internet. */
  | 'image_mount_failed'
  | 'tunnel_failed'
  | 'agent_not_installed'
  /** The signature of the agent is no longer valid, or the phone does not trust it. */
  | 'agent_expired'
  /** iOS waits for the passcode before it allows automation. */
  | 'passcode_prompt'
  | 'launch_failed'

/** `why` has no handles, texts or secrets. */
export type LaunchTrouble = { readonly code: LaunchTroubleCode; readonly why: string }

/** The launch was called off; the owner never sees this. */
export const CALLED_OFF: LaunchTrouble = { code: 'launch_failed', why: 'It was called off.' }

/** Known words of go-ios 1.3.2 (its sources by file; `run` was seen here) and of Xcode (logs of Appium's users). */
const KNOWN_WORDS: readonly { readonly words: RegExp; readonly code: LaunchTroubleCode }[] = [
  {
    // `ios version` prints {"version":"1.3.2"}. From 1.3.1 on `image auto` takes an image that it has
    // before it asks the network.
    words: /^\{"version"\s*:\s*"v?(?:0\.|1\.[0-2]\.|1\.3\.0)/,
    code: 'launcher_too_old',
  },
  // xcode-select, where the command line tools are installed and Xcode is not.
  { words: /tool 'xcodebuild' requires Xcode/, code: 'launcher_absent' },
  // xcuitestrunner.go; xcodebuild where the products beside the .xctestrun file are gone.
  {
    words: /Did not find test app|-Runner\.app.* because there is no such file|Unable to install "/,
    code: 'agent_not_installed',
  },
  // SpringBoard, also by way of go-ios: an expired profile and a missing trust read the same. amfid, installd.
  {
    words:
      /has not been explicitly trusted|invalid code signature|0xe8008015|valid provisioning profile .* not found|has either expired or has been revoked/,
    code: 'agent_expired',
  },
  // appservice.go: all that go-ios keeps when the phone refuses to start an app, of which an untrusted
  // signature is the known reason.
  { words: /could not get pid from response/, code: 'agent_expired' },
  // cmd_device_debug.go (run; the exit code is 0), personalized_image_mounter.go: Apple signs the image for
  // each phone. connect.go, startservice.go: a service of the image is missing. DTDeviceKit.
  {
    words:
      /failed downloading image|get signature from Apple|could not find identity|not available in RSD|Have you mounted the Developer Image|mount developer disk image|Failed to mount DDI/i,
    code: 'image_mount_failed',
  },
  // main.go, connect.go (the second was run).
  {
    words: /to RSD, host|missing tunnel address|RSD handshake failed|failed to connect to tunnel/,
    code: 'tunnel_failed',
  },
  // iOS since 15, whenever a test session begins on a phone with a passcode.
  { words: /enabling automation mode/, code: 'passcode_prompt' },
]

const LINES_QUOTED = 3
const LINE_LENGTH_MAX = 200

/** The code for the newest line with known words; null where no line has any. */
export function knownCode(lines: readonly string[]): LaunchTroubleCode | null {
  for (const line of lines.toReversed()) {
    const row = KNOWN_WORDS.find(({ words }) => words.test(line))
    if (row !== undefined) return row.code
  }
  return null
}

/** The cause of a command's end, with its last lines; `code` is for unknown words. The phone's ids are masked. */
export function endTrouble(
  { exitCode, lines }: KeptEnd,
  code: LaunchTroubleCode,
  phone: { readonly udid: string; readonly serial: string } | null,
): LaunchTrouble {
  const how = exitCode === null ? 'A signal ended it.' : `It ended with exit code ${exitCode}.`
  const last = lines.slice(-LINES_QUOTED).map((line) => {
    const ids = phone === null ? [] : [phone.udid, phone.serial]
    const clean = ids.reduce((text, id) => text.replaceAll(id, '…'), line.trim())
    return clean.slice(0, LINE_LENGTH_MAX)
  })
  const why = last.length === 0 ? how : `${how} Its last lines: ${last.join(' | ')}`
  return { code: knownCode(lines) ?? code, why }
}

/** The cause of a failed start; `code` is an error of the system, or `aborted`. */
export function startTrouble(code: string): LaunchTrouble {
  if (code === 'aborted') return CALLED_OFF
  const isAbsent = code === 'ENOENT' || code === 'EACCES' || code === 'ENOTDIR'
  const why = `The program cannot be started: ${code}.`
  return { code: isAbsent ? 'launcher_absent' : 'launch_failed', why }
}
