// What Xcode needs before it can start an agent.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { UDID } from '../../../../support/iphone/fake-phones.ts'
import { LaunchRig } from '../../../../support/iphone/launch-rig.ts'
import { eventually } from '../../../../support/iphone/real-usbmuxd.ts'

const NEVER = new AbortController().signal

test('an agent that Xcode shall start must have been built', async () => {
  await using none = new LaunchRig({ launcher: 'xcodebuild', xctestrunPath: null })
  await using gone = new LaunchRig({
    launcher: 'xcodebuild',
    xctestrunPath: '/nowhere/a.xctestrun',
  })

  const troubles = [
    await none.prepare(UDID),
    await none.launcher.launch(UDID, NEVER),
    await gone.prepare(UDID),
  ]

  const unnamed = 'No option names the .xctestrun file of WebDriverAgent.'
  expect(troubles).toEqual([
    { code: 'launcher_absent', why: unnamed },
    { code: 'launcher_absent', why: unnamed },
    { code: 'launcher_absent', why: 'The .xctestrun file is not where the option says.' },
  ])
  expect([...none.xcodebuild.calls(), ...gone.xcodebuild.calls()]).toEqual([])
})

test('Xcode that is being asked whether it works is ended with the relay', async () => {
  await using rig = new LaunchRig({ launcher: 'xcodebuild' })
  rig.xcodebuild.put('says', `trap '' TERM; : > "$here/runs"; exec sleep 60`)
  const preparing = rig.launcher.prepare(UDID, NEVER)
  await eventually(() => (existsSync(`${rig.xcodebuild.folder}/runs`) ? true : null), 'its start')
  let hasStopped = false

  const stopping = rig.stop().finally(() => {
    hasStopped = true
  })
  await rig.clock.advance(2_999)
  const early = hasStopped
  await rig.clock.advance(1)
  await stopping

  expect(early).toBe(false)
  expect(rig.xcodebuild.alive()).toEqual([])
  expect(await preparing).toEqual({ code: 'launch_failed', why: 'It was called off.' })
})

test('Xcode is asked whether it works before it starts an agent', async () => {
  await using rig = new LaunchRig({ launcher: 'xcodebuild' })
  const licence =
    "echo 'You have not agreed to the Xcode license agreements, please run' >&2; exit 69"

  const good = await rig.prepare(UDID)
  rig.xcodebuild.put('says', licence)
  const unread = await rig.prepare(UDID)
  rig.xcodebuild.put('says', 'exit 1')
  const bad = await rig.prepare(UDID)
  rig.xcodebuild.put('says', 'exec sleep 60')
  const preparing = rig.launcher.prepare(UDID, NEVER)
  await eventually(() => (rig.xcodebuild.calls().length > 3 ? true : null), 'its start')
  await rig.clock.advance(60_000)

  expect([good, unread, bad, await preparing]).toEqual([
    null,
    { code: 'launcher_absent', why: 'Nobody has agreed to the licence of Xcode.' },
    { code: 'launcher_absent', why: 'It ended with exit code 1.' },
    { code: 'launcher_absent', why: 'Xcode does not answer.' },
  ])
  expect(rig.xcodebuild.argsOfCalls()).toEqual(Array.from({ length: 4 }, () => ['-version']))
})
