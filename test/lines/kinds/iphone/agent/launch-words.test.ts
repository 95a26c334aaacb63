// What is made of the words of programs that could not start an agent.

import { expect, test } from 'bun:test'

import {
  AGENT_WORDS,
  complaints,
  hasError,
} from '../../../../../src/lines/kinds/iphone/agent/go-ios-words.ts'
import { endTrouble, troubleIn } from '../../../../../src/lines/kinds/iphone/agent/launch-words.ts'
import type { LaunchTrouble } from '../../../../../src/lines/kinds/iphone/agent/launcher.ts'
import type { AGENT_SAYS } from '../../../../support/iphone/fake-go-ios.ts'
import { UDID } from '../../../../support/iphone/fake-phones.ts'
import { LaunchRig } from '../../../../support/iphone/launch-rig.ts'
import { eventually } from '../../../../support/iphone/real-usbmuxd.ts'

const NOT_TRUSTED = 'The phone does not trust the signature of the agent.'
const PASSCODE = 'The phone waits for its passcode to allow automation.'

const GO_IOS_TROUBLES: Readonly<
  Record<Exclude<keyof typeof AGENT_SAYS, 'runs' | 'stubborn'>, LaunchTrouble>
> = {
  not_installed: { code: 'agent_not_installed', why: 'The phone has no app of that bundle id.' },
  refused: {
    code: 'agent_expired',
    why: 'The phone refuses to start the agent: mostly its signature has expired or is not trusted.',
  },
  not_trusted: { code: 'agent_expired', why: NOT_TRUSTED },
  no_image: { code: 'image_mount_failed', why: 'The phone lacks the services of the image.' },
  no_tunnel: { code: 'tunnel_failed', why: 'The tunnel to the phone does not answer.' },
  stale_tunnel: { code: 'tunnel_failed', why: 'The tunnel to the phone does not answer.' },
  passcode: { code: 'launch_failed', why: PASSCODE },
  gone: { code: 'launch_failed', why: 'go-ios does not see the phone.' },
  let_go: { code: 'launch_failed', why: 'The test service of the phone has let go of the agent.' },
  ended: { code: 'launch_failed', why: 'The agent has ended on the phone.' },
  silent: { code: 'launch_failed', why: 'It ended with exit code 3.' },
}

for (const [says, trouble] of Object.entries(GO_IOS_TROUBLES)) {
  test(`an agent that go-ios cannot start is told by its words: ${says}`, async () => {
    await using rig = new LaunchRig({ launcher: 'go-ios' })
    rig.goIos.agent = says as keyof typeof AGENT_SAYS // A key of the table.

    const launched = await rig.launch(UDID)

    expect(await launched.ended).toEqual(trouble)
    expect(rig.lines).toEqual([])
  })
}

/** Lines of xcodebuild as they stand in the logs of its users, shortened. */
const XCODE_TROUBLES: readonly (readonly [says: string, exitCode: number, LaunchTrouble])[] = [
  [
    "xcode-select: error: tool 'xcodebuild' requires Xcode, but active developer directory '/Library/Developer/CommandLineTools' is a command line tools instance",
    1,
    { code: 'launcher_absent', why: 'Xcode is not installed, or not selected.' },
  ],
  [
    '2020-01-29 22:37:26.451 xcodebuild[18655:345080] Error Domain=com.apple.platform.iphoneos Code=-12 "Unable to launch com.lab.WebDriverAgentRunner.xctrunner" UserInfo={NSLocalizedFailureReason=Unable to launch com.lab.WebDriverAgentRunner.xctrunner because it has an invalid code signature, inadequate entitlements or its profile has not been explicitly trusted by the user.',
    65,
    { code: 'agent_expired', why: NOT_TRUSTED },
  ],
  [
    'not valid: 0xe8008015: A valid provisioning profile for this executable was not found.',
    65,
    { code: 'agent_expired', why: 'The signature of the agent has expired.' },
  ],
  [
    '2017-07-31 17:38:32.001 xcodebuild[13064:454060] Error Domain=com.apple.dtdevicekit Code=-402620392 "Unable to install "WebDriverAgentRunner-Runner"" UserInfo={NSLocalizedRecoverySuggestion=The certificate used to sign "WebDriverAgentRunner-Runner" has either expired or has been revoked.',
    65,
    { code: 'agent_expired', why: 'The signature of the agent has expired.' },
  ],
  [
    '2017-07-31 17:38:32.001 xcodebuild[13064:454060] Error Domain=com.apple.dtdevicekit Code=-402620392 "Unable to install "WebDriverAgentRunner-Runner""',
    65,
    { code: 'agent_not_installed', why: 'Xcode could not install the agent.' },
  ],
  [
    'WebDriverAgentRunner-Runner.app encountered an error (The file “WebDriverAgentRunner-Runner.app” couldn’t be opened because there is no such file.)',
    65,
    { code: 'agent_not_installed', why: 'Xcode could not install the agent.' },
  ],
  [
    'Underlying Error: Timed out while enabling automation mode.',
    65,
    { code: 'launch_failed', why: PASSCODE },
  ],
  [
    'iPhoneConnect: unable to mount developer disk image, (Error Domain=com.apple.dtdevicekit Code=806 "Failed to prepare device for development." UserInfo={NSUnderlyingError={Error Domain=com.apple.dt.MobileDeviceErrorDomain Code=-402652958 "The device is locked." UserInfo={MobileDeviceErrorCode=(0xE80000E2)',
    70,
    { code: 'launch_failed', why: 'The phone is locked.' },
  ],
  [
    'iPhoneConnect: Unable to mount developer disk image, (Error Domain=com.apple.dtdevicekit Code=601 "Could not locate device support files."',
    70,
    { code: 'image_mount_failed', why: 'Xcode could not mount the image for developers.' },
  ],
  [
    'xcodebuild: error: Unable to find a destination matching the provided destination specifier:',
    70,
    { code: 'launch_failed', why: 'Xcode does not see the phone.' },
  ],
  [
    'Developer Mode disabled',
    70,
    { code: 'launch_failed', why: 'Developer Mode of the phone is off.' },
  ],
  ['** TEST EXECUTE FAILED **', 65, { code: 'launch_failed', why: 'It ended with exit code 65.' }],
]

for (const [says, exitCode, trouble] of XCODE_TROUBLES) {
  test(`an agent that Xcode cannot start is told by its words: ${says.slice(0, 60)}`, async () => {
    await using rig = new LaunchRig({ launcher: 'xcodebuild' })
    rig.xcodebuild.put('words', `Testing started\n${says}\n\n** TEST EXECUTE FAILED **\n`)
    rig.xcodebuild.put('says', `cat "$here/words" >&2; exit ${exitCode}`)

    const launched = await rig.launch(UDID)

    expect(await launched.ended).toEqual(trouble)
    expect(rig.lines).toEqual([])
  })
}

test('an agent that is stopped while iOS waits for a passcode tells that', async () => {
  await using rig = new LaunchRig({ launcher: 'xcodebuild' })
  rig.xcodebuild.put(
    'says',
    'echo "Timed out while enabling automation mode."; : > "$here/said"; exec sleep 60',
  )
  const launched = await rig.launch(UDID)
  const said = Bun.file(`${rig.xcodebuild.folder}/said`)
  await eventually(async () => ((await said.exists()) ? true : null), 'its words')

  await launched.stop()

  expect(await launched.ended).toEqual({ code: 'launch_failed', why: PASSCODE })
})

test('what stands on the screen of an agent that has run for long is no word of its program', () => {
  const lines = ['    t =  900.00s Type "its profile has not been explicitly trusted by the user"']
  const read = () => ({ code: 'agent_expired', why: NOT_TRUSTED }) as const

  const early = endTrouble({ exitCode: 65, ranMs: 600_000, lines }, read)
  const late = endTrouble({ exitCode: 65, ranMs: 600_001, lines }, read)

  expect(early.code).toBe('agent_expired')
  expect(late).toEqual({ code: 'launch_failed', why: 'It ended with exit code 65.' })
})

test('what the agent itself writes is no word of Xcode', async () => {
  await using rig = new LaunchRig({ launcher: 'xcodebuild' })
  const line = 'echo "10:40:51.5 WebDriverAgentRunner-Runner[81353:416] invalid code signature"'
  rig.xcodebuild.put('says', `${line}; exit 65`)

  const launched = await rig.launch(UDID)

  expect(await launched.ended).toEqual({
    code: 'launch_failed',
    why: 'It ended with exit code 65.',
  })
})

test('the last words count, and of go-ios only what it complains of', () => {
  const lines = [
    '{"level":"ERROR","msg":"Device not found: 00008110","err":"no"}',
    '{"level":"INFO","msg":"Did not find test app"}',
    '{"level":"WARN","msg":"failed to get tunnel info"}',
    '{"level":7,"msg":"lost connection to testmanagerd"}',
    'null',
    '{"level":"INFO"',
  ]

  const trouble = troubleIn(complaints(lines), AGENT_WORDS)

  // A line that is not of its log counts as a complaint: so the last word is the crash.
  expect(trouble?.why).toBe('The test service of the phone has let go of the agent.')
  expect(troubleIn(complaints(lines.slice(0, 3)), AGENT_WORDS)?.why).toBe(
    'go-ios does not see the phone.',
  )
  expect(troubleIn([], AGENT_WORDS)).toBeNull()
})

test('an error in the log of go-ios is one in the writing of every version of it', () => {
  const levels = ['ERROR', 'error', 'fatal', 'WARN', 'warning', 'info']

  const found = levels.map((level) => hasError([JSON.stringify({ level, msg: 'words' })]))

  expect(found).toEqual([true, true, true, false, false, false])
})
