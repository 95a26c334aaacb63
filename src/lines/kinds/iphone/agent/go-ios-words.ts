// What go-ios 1.3.2 says, in JSON lines on standard error: `level`, `msg`, and an error in `error` or `err`.
// Its sources are named by file; what stands under "run" was seen here, without a phone.

import type { LaunchWords } from './launch-words.ts'

/** What `ios runwda` says when it cannot start an agent. */
export const AGENT_WORDS: readonly LaunchWords[] = [
  {
    // xcuitestrunner.go: the phone does not list the bundle id.
    pattern: /Did not find test app/,
    trouble: { code: 'agent_not_installed', why: 'The phone has no app of that bundle id.' },
  },
  {
    // SpringBoard's words, as in logs of Xcode. From iOS 17 on go-ios does not pass them on.
    pattern: /has not been explicitly trusted|invalid code signature/,
    trouble: { code: 'agent_expired', why: 'The phone does not trust the signature of the agent.' },
  },
  {
    // appservice.go: all that is left when the phone refuses to start an app, of which a signature that
    // nobody trusts is the known reason (ios-use). That there are no others is unproven.
    pattern: /could not get pid from response/,
    trouble: {
      code: 'agent_expired',
      why: 'The phone refuses to start the agent: mostly its signature has expired or is not trusted.',
    },
  },
  {
    // connect.go and startservice.go: a service of the image is missing.
    pattern: /not available in RSD|Have you mounted the Developer Image/,
    trouble: { code: 'image_mount_failed', why: 'The phone lacks the services of the image.' },
  },
  {
    // main.go, connect.go; the second was run.
    pattern: /to RSD, host|missing tunnel address|RSD handshake failed|failed to connect to tunnel/,
    trouble: { code: 'tunnel_failed', why: 'The tunnel to the phone does not answer.' },
  },
  {
    // Unproven by way of go-ios; Xcode's users know these words of iOS.
    pattern: /enabling automation mode/,
    trouble: {
      code: 'launch_failed',
      why: 'The phone waits for its passcode to allow automation.',
    },
  },
  {
    // cli_device_resolution.go; run.
    pattern: /Device not found/,
    trouble: { code: 'launch_failed', why: 'go-ios does not see the phone.' },
  },
  {
    // xcuitestrunner.go.
    pattern: /lost connection to testmanagerd/,
    trouble: {
      code: 'launch_failed',
      why: 'The test service of the phone has let go of the agent.',
    },
  },
  {
    // cmd_device_testing.go.
    pattern: /WDA process ended unexpectedly/,
    trouble: { code: 'launch_failed', why: 'The agent has ended on the phone.' },
  },
]

/** What `ios tunnel start` says when it cannot; of one phone, or before it ends. */
export const TUNNEL_WORDS: readonly LaunchWords[] = [
  {
    // tunnel_api.go: its comparison leaves 17.4 itself out.
    pattern: /userspaceTUN not supported/,
    trouble: { code: 'tunnel_failed', why: 'go-ios needs iOS 17.4.1 or later on the phone.' },
  },
  {
    // pairrecord.go; run.
    pattern: /pair record manager/,
    trouble: { code: 'tunnel_failed', why: 'go-ios cannot keep its identity in its folder.' },
  },
  {
    // tunnel_api.go; run.
    pattern: /address already in use/,
    trouble: { code: 'tunnel_failed', why: 'Another program has the port 60105 of go-ios.' },
  },
  {
    // tunnel_api.go, startservice.go; run.
    pattern: /failed to start tunnel/,
    trouble: { code: 'tunnel_failed', why: 'The phone does not let go-ios make a tunnel.' },
  },
]

/** What `ios image auto` says when it cannot. */
export const IMAGE_WORDS: readonly LaunchWords[] = [
  {
    // cmd_device_debug.go; run. The exit code is 0 all the same.
    pattern: /failed downloading image/,
    trouble: {
      code: 'image_mount_failed',
      why: 'The image could not be loaded; mostly there is no internet.',
    },
  },
  {
    // personalized_image_mounter.go: Apple signs the image for each phone.
    pattern: /get signature from Apple/,
    trouble: {
      code: 'image_mount_failed',
      why: 'Apple did not sign the image for the phone; mostly there is no internet.',
    },
  },
  {
    // personalized_image.go: an image of an older go-ios does not know newer phones.
    pattern: /could not find identity/,
    trouble: {
      code: 'image_mount_failed',
      why: 'The image in the folder of go-ios is too old for this phone; delete it.',
    },
  },
  {
    // imagemounter.go passes on what the phone answers; that word is unproven.
    pattern: /DeviceLocked/,
    trouble: { code: 'image_mount_failed', why: 'The phone is locked.' },
  },
  {
    pattern: /Device not found/,
    trouble: { code: 'launch_failed', why: 'go-ios does not see the phone.' },
  },
]

type Entry = { readonly level: string; readonly text: string }

const COMPLAINTS: ReadonlySet<string> = new Set(['WARN', 'WARNING', 'ERROR', 'FATAL'])
const ERRORS: ReadonlySet<string> = new Set(['ERROR', 'FATAL'])

/** What go-ios complains of, oldest first. */
export function complaints(lines: readonly string[]): readonly string[] {
  return lines
    .map(entryOf)
    .filter(({ level }) => COMPLAINTS.has(level))
    .map(({ text }) => text)
}

/** Whether it says that something failed: by its exit code alone a failed download is a success. */
export function hasError(lines: readonly string[]): boolean {
  return lines.some((line) => ERRORS.has(entryOf(line).level))
}

/** A line that is not JSON is the end of a program that has crashed, or the line was cut. */
function entryOf(line: string): Entry {
  const { level, msg, error, err } = fieldsOf(line)
  if (typeof level !== 'string') return { level: 'WARN', text: line }
  return { level: level.toUpperCase(), text: [msg, error, err].filter(isText).join(': ') }
}

function fieldsOf(line: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string'
}
