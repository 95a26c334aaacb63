// How agents are started and ended, with real processes: small scripts that stand in for go-ios and for
// xcodebuild. What they say when they cannot is in launch-words.test.ts, what they need before in
// go-ios-tunnel.test.ts, go-ios-image.test.ts and xcode-launcher.test.ts.

import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import type { LauncherName } from '../../../../../src/lines/kinds/iphone/agent/launcher.ts'
import { OTHER_UDID, UDID } from '../../../../support/iphone/fake-phones.ts'
import { isAlive, type FakeTool, type ToolCall } from '../../../../support/iphone/fake-tool.ts'
import { BUNDLE_ID, LaunchRig } from '../../../../support/iphone/launch-rig.ts'
import { eventually } from '../../../../support/iphone/real-usbmuxd.ts'

const NEVER = new AbortController().signal
const OURS: readonly LauncherName[] = ['go-ios', 'xcodebuild']

test('an agent that somebody else starts needs nothing, and ends when it is let go', async () => {
  await using rig = new LaunchRig({ launcher: 'attach' })

  const trouble = await rig.launcher.prepare(UDID, NEVER)
  const launched = await rig.launch(UDID)
  const before = await Promise.race([launched.ended, rig.clock.advance(86_400_000)])
  await launched.stop()

  expect(rig.launcher.name).toBe('attach')
  expect([trouble, before]).toEqual([null, undefined])
  expect(await launched.ended).toEqual({
    code: 'launch_failed',
    why: 'It is not used any more.',
  })
})

test('go-ios is told which agent to start, and to let it listen on the phone itself only', async () => {
  await using rig = new LaunchRig({ launcher: 'go-ios', agentPort: 8_123 })

  await rig.launch(UDID)
  await called(rig.goIos.tool)

  expect(rig.goIos.tool.argsOfCalls()).toEqual([
    [
      'runwda',
      `--udid=${UDID}`,
      `--bundleid=${BUNDLE_ID}`,
      `--testrunnerbundleid=${BUNDLE_ID}`,
      '--xctestconfig=WebDriverAgentRunner.xctest',
      '--env=USE_IP=127.0.0.1',
      '--env=USE_PORT=8123',
    ],
  ])
})

test('xcodebuild is told the same, in words that it hands on to the agent', async () => {
  await using rig = new LaunchRig({ launcher: 'xcodebuild', agentPort: 8_123 })

  await rig.launch(UDID)
  const [call] = await called(rig.xcodebuild)

  expect(call?.args).toEqual([
    'test-without-building',
    '-xctestrun',
    `${rig.folder.path}/wda.xctestrun`,
    '-destination',
    `id=${UDID}`,
  ])
  expect(call?.environment).toMatchObject({
    TEST_RUNNER_USE_IP: '127.0.0.1',
    TEST_RUNNER_USE_PORT: '8123',
  })
})

for (const launcher of OURS) {
  test(`${launcher} learns nothing of our environment but where it is and who its user is`, async () => {
    await using rig = rigOf(launcher)
    process.env['HOOKLINE_ADMIN_PASSWORD'] = 'secret'

    await rig.prepare(UDID)
    await rig.launch(UDID)
    const isLast = ([word]: readonly string[]) => word === 'runwda' || word?.startsWith('test-')
    const calls = await eventually(
      () => (toolOf(rig).argsOfCalls().some(isLast) ? toolOf(rig).calls() : null),
      'the start',
    )
    delete process.env['HOOKLINE_ADMIN_PASSWORD']

    const known = ['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER', 'XDG_RUNTIME_DIR']
    const names = new Set(calls.flatMap(({ environment }) => Object.keys(environment)))
    const others = [...names].filter((name) => !known.includes(name)).sort()
    const ours = ['TEST_RUNNER_USE_IP', 'TEST_RUNNER_USE_PORT']
    expect(others).toEqual(launcher === 'go-ios' ? [] : ours)
  })

  test(`${launcher} is not started for a UDID that is none`, async () => {
    await using rig = rigOf(launcher)
    const trap = rig.folder.file('trap')
    const bad = [`${UDID}; touch ${trap}`, `$(touch ${trap})`, `${UDID}\n`, `-v ${UDID}`, '-h', '']

    const troubles = await Promise.all(
      bad.flatMap((udid) => [rig.launcher.prepare(udid, NEVER), rig.launcher.launch(udid, NEVER)]),
    )

    const trouble = {
      code: 'launch_failed',
      why: 'What the phone calls its UDID is none.',
    } as const
    expect(troubles).toEqual(bad.flatMap(() => [trouble, trouble]))
    expect(toolOf(rig).calls()).toEqual([])
    expect(existsSync(trap)).toBe(false)
  })

  test(`an agent of ${launcher} runs until it is stopped, and others of its name run on`, async () => {
    await using rig = rigOf(launcher)
    const other = Bun.spawn([toolOf(rig).path, 'runwda'], { detached: true })
    const launched = await rig.launch(UDID)
    const next = await rig.launch(OTHER_UDID)
    const calls = await called(toolOf(rig), 3)
    const pidOf = (udid: string) =>
      calls.find(({ args }) => args.join(' ').includes(udid))?.pid ?? 0

    await launched.stop()
    await launched.stop()

    const alive = [other.pid, pidOf(UDID), pidOf(OTHER_UDID)].map(isAlive)
    expect(alive).toEqual([true, false, true])
    expect(await launched.ended).toEqual({ code: 'launch_failed', why: 'A signal ended it.' })
    expect(await Promise.race([next.ended, rig.clock.advance(86_400_000)])).toBeUndefined()
  })

  test(`an agent of ${launcher} that does not end by itself is killed after five seconds`, async () => {
    await using rig = rigOf(launcher, 'stubborn')
    const launched = await rig.launch(UDID)
    await eventually(() => (existsSync(runsFile(rig)) ? true : null), 'its start')
    const [pid = 0] = toolOf(rig).alive()

    const stopping = launched.stop()
    await rig.clock.advance(4_999)
    const isLeft = isAlive(pid)
    await rig.clock.advance(1)
    await stopping

    expect([isLeft, isAlive(pid)]).toEqual([true, false])
    expect(await launched.ended).toEqual({ code: 'launch_failed', why: 'A signal ended it.' })
  })

  test(`what ${launcher} has started itself is ended with it`, async () => {
    await using rig = rigOf(launcher)
    const file = rig.folder.file('child')
    const script = `sleep 60 & echo $! > '${file}'; wait`
    toolOf(rig).put(launcher === 'go-ios' ? 'says.agent' : 'says', script)
    const launched = await rig.launch(UDID)
    const child = await eventually(async () => {
      const text = existsSync(file) ? await Bun.file(file).text() : ''
      return text === '' ? null : Number(text)
    }, 'its child')

    await launched.stop()

    await eventually(() => (isAlive(child) ? null : true), 'the end of its child')
  })

  test(`nothing of ${launcher} is left when the relay ends, and nothing more is started`, async () => {
    await using rig = rigOf(launcher, 'stubborn')
    if (launcher === 'go-ios') {
      rig.goIos.tunnel = 'stubborn'
      await rig.prepare(UDID)
    }
    await rig.launch(UDID)
    await rig.launch(OTHER_UDID)
    const count = launcher === 'go-ios' ? 3 : 2
    await eventually(() => (toolOf(rig).alive().length === count ? true : null), 'their start')

    const stopping = rig.stop()
    await rig.comesTo(() => (toolOf(rig).alive().length === 0 ? true : null), 'the end of all')
    await stopping

    const late = await rig.launcher.launch(UDID, NEVER)
    expect(late).toEqual({ code: 'launch_failed', why: 'The relay is ending.' })
    expect(toolOf(rig).alive()).toEqual([])
  })

  test(`nothing of ${launcher} is started for one who has left already`, async () => {
    await using rig = rigOf(launcher)

    const launched = await rig.launcher.launch(UDID, AbortSignal.abort())

    expect(launched).toEqual({ code: 'launch_failed', why: 'It was called off.' })
    expect(toolOf(rig).calls()).toEqual([])
  })
}

test('a program that is not there is said to be missing', async () => {
  const path = '/nowhere/tool'
  await using goIos = new LaunchRig({ launcher: 'go-ios', goIosPath: path })
  await using xcode = new LaunchRig({ launcher: 'xcodebuild', xcodebuildPath: path })

  const troubles = [
    await goIos.prepare(UDID),
    await goIos.launcher.launch(UDID, NEVER),
    await xcode.prepare(UDID),
    await xcode.launcher.launch(UDID, NEVER),
  ]

  const trouble = {
    code: 'launcher_absent',
    why: 'The program cannot be started: ENOENT.',
  } as const
  expect(troubles).toEqual([trouble, trouble, trouble, trouble])
  expect(goIos.lines).toEqual([])
})

function rigOf(launcher: LauncherName, says: 'runs' | 'stubborn' = 'runs'): LaunchRig {
  const rig = new LaunchRig({ launcher })
  if (says === 'stubborn')
    rig.xcodebuild.put('says', `trap '' TERM; : > "$here/runs"; exec sleep 60`)
  rig.goIos.agent = says
  rig.goIos.phones = [UDID, OTHER_UDID]
  return rig
}

function toolOf(rig: LaunchRig): FakeTool {
  return rig.launcher.name === 'go-ios' ? rig.goIos.tool : rig.xcodebuild
}

function runsFile(rig: LaunchRig): string {
  return `${toolOf(rig).folder}/runs`
}

/** Its calls, once there are so many. */
function called(tool: FakeTool, count = 1): Promise<readonly ToolCall[]> {
  return eventually(() => (tool.calls().length >= count ? tool.calls() : null), `${count} calls`)
}
