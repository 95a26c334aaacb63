import type { LaunchWords } from './launch-words.ts'

/** A line that the agent itself has written: `2026-01-12 10:40:51.5 WebDriverAgentRunner-Runner[81353:416]`. */
const LINE_OF_AGENT = /-Runner\[\d+:\d+\]/

/** What xcodebuild says when it cannot start an agent. The logs are those of Appium's users. */
export const XCODE_WORDS: readonly LaunchWords[] = [
  {
    // xcode-select's words where the command line tools are installed and Xcode is not.
    pattern: /tool 'xcodebuild' requires Xcode/,
    trouble: { code: 'launcher_absent', why: 'Xcode is not installed, or not selected.' },
  },
  {
    // Unproven wording; the exit code is 69.
    pattern: /not agreed to the Xcode license/i,
    trouble: { code: 'launcher_absent', why: 'Nobody has agreed to the licence of Xcode.' },
  },
  {
    // SpringBoard's words in logs of iOS 10 to 13; an expired profile and a missing trust read the same.
    pattern: /has not been explicitly trusted|invalid code signature/,
    trouble: { code: 'agent_expired', why: 'The phone does not trust the signature of the agent.' },
  },
  {
    // Logs of amfid, of installd, and of dtdevicekit.
    pattern:
      /0xe8008015|valid provisioning profile .* not found|has either expired or has been revoked/,
    trouble: { code: 'agent_expired', why: 'The signature of the agent has expired.' },
  },
  {
    // Asked by iOS since 15 whenever a test session begins; a phone without a passcode is not asked.
    pattern: /enabling automation mode/,
    trouble: {
      code: 'launch_failed',
      why: 'The phone waits for its passcode to allow automation.',
    },
  },
  {
    // MobileDevice's error 0xE80000E2 in logs of fastlane and NativeScript; it comes before the image is
    // mounted, and in the same line. The words of SpringBoard, the third, are unproven.
    pattern: /device is locked|0xE80000E2|could not be, unlocked/,
    trouble: { code: 'launch_failed', why: 'The phone is locked.' },
  },
  {
    // Unproven wording.
    pattern: /Developer Mode (?:is )?disabled/i,
    trouble: { code: 'launch_failed', why: 'Developer Mode of the phone is off.' },
  },
  {
    // DTDeviceKit, in logs up to iOS 13; `disk image could not be mounted` is unproven.
    pattern: /mount developer disk image|Failed to mount DDI|disk image could not be mounted/i,
    trouble: { code: 'image_mount_failed', why: 'Xcode could not mount the image for developers.' },
  },
  {
    pattern: /Unable to find a (?:destination|device) matching/,
    trouble: { code: 'launch_failed', why: 'Xcode does not see the phone.' },
  },
  {
    // The products beside the .xctestrun file are gone; and dtdevicekit where iOS refuses them.
    pattern: /-Runner\.app.* because there is no such file|Unable to install "/,
    trouble: { code: 'agent_not_installed', why: 'Xcode could not install the agent.' },
  },
]

/** The lines of Xcode itself. */
export function wordsOfXcode(lines: readonly string[]): readonly string[] {
  return lines.filter((line) => !LINE_OF_AGENT.test(line))
}
