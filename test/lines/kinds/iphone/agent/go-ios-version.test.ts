// Which go-ios may start agents.

import { expect, test } from 'bun:test'

import { UDID } from '../../../../support/iphone/fake-phones.ts'
import { LaunchRig } from '../../../../support/iphone/launch-rig.ts'

const NEVER = new AbortController().signal

test.each([
  ['1.2.0', 'It is go-ios 1.2.0.'],
  ['v1.3.0', 'It is go-ios 1.3.0.'],
  ['1.0.182', 'It is go-ios 1.0.182.'],
])('go-ios %s is too old, and nothing of it is started', async (version, why) => {
  await using rig = new LaunchRig({ launcher: 'go-ios' })
  rig.goIos.version = version

  const trouble = await rig.launcher.prepare(UDID, NEVER)

  expect(trouble).toEqual({ code: 'launcher_too_old', why })
  expect(rig.goIos.tool.argsOfCalls()).toEqual([['version']])
})

test.each(['1.3.1', 'v1.3.2', '1.10.0', '2.0.0'])(
  'go-ios %s is asked for its version once',
  async (version) => {
    await using rig = new LaunchRig({ launcher: 'go-ios' })
    rig.goIos.version = version
    rig.goIos.phones = [UDID]
    const running = new AbortController()
    const run = rig.launcher.run(running.signal)

    const troubles = [await prepared(rig), await prepared(rig)]

    expect(troubles).toEqual([null, null])
    expect(rig.goIos.callsOf('version').length).toBe(1)
    running.abort()
    await run
  },
)

test('a go-ios that somebody built is taken as it is, and one that was brought up to date too', async () => {
  await using rig = new LaunchRig({ launcher: 'go-ios' })
  rig.goIos.phones = [UDID]
  const running = new AbortController()
  const run = rig.launcher.run(running.signal)
  rig.goIos.version = '1.2.0'
  const old = await prepared(rig)
  rig.goIos.version = 'local-build'
  const built = await prepared(rig)

  expect([old?.code, built]).toEqual(['launcher_too_old', null])
  running.abort()
  await run
})

async function prepared(rig: LaunchRig) {
  const preparing = rig.launcher.prepare(UDID, NEVER)
  const state = { isOver: false }
  const over = () => (state.isOver = true)
  void preparing.then(over, over)
  while (!state.isOver) {
    await Bun.sleep(5)
    await rig.clock.advance(1_000)
  }
  return preparing
}
