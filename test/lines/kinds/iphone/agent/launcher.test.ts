// The commands that start agents: the owner's command, go-ios and xcodebuild.

import { describe, expect, test } from 'bun:test'
import { statSync, writeFileSync } from 'node:fs'

import { UDID } from '../../../../support/iphone/fake-phones.ts'
import {
  BUNDLE,
  exited,
  LaunchRig,
  NOWHERE,
  OTHER,
  PHONE,
  type PlayedProcess,
  SERIAL,
  untilAborted,
} from '../../../../support/iphone/launch-rig.ts'
import { NEVER } from '../../../../support/iphone/ui-rig.ts'

const isTunnel = ({ args }: PlayedProcess) => args[0] === 'tunnel'

test('the preset go-ios keeps a tunnel, mounts the image, and lets the agent listen on the phone only', async () => {
  await using rig = new LaunchRig('go-ios')

  const trouble = await rig.prepare()
  rig.launch()

  const folder = rig.folder.file('data/go-ios')
  expect(trouble).toBeNull()
  expect(rig.calls).toEqual([
    ['tunnel', 'start', '--userspace', `--pair-record-path=${folder}`],
    ['image', 'auto', `--udid=${SERIAL}`, `--basedir=${folder}/images`],
    [
      'runwda',
      `--udid=${SERIAL}`,
      `--bundleid=${BUNDLE}`,
      `--testrunnerbundleid=${BUNDLE}`,
      '--xctestconfig=WebDriverAgentRunner.xctest',
      '--env=USE_IP=127.0.0.1',
      '--env=USE_PORT=8123',
    ],
  ])
  expect(statSync(folder).mode & 0o777).toBe(0o700)
})

test('the preset xcodebuild hands the same on to the agent by its environment', async () => {
  await using rig = new LaunchRig('xcodebuild')

  const trouble = await rig.prepare()
  rig.launch()

  const what = ['-xctestrun', rig.folder.file('wda.xctestrun'), '-destination', `id=${UDID}`]
  expect(trouble).toBeNull()
  expect(rig.calls).toEqual([['test-without-building', ...what]])
  expect(rig.started[0]?.environment).toEqual({
    TEST_RUNNER_USE_IP: '127.0.0.1',
    TEST_RUNNER_USE_PORT: '8123',
  })
})

test('the command of the owner runs with its values filled in, and so does that of the tunnel', async () => {
  await using rig = new LaunchRig('attach', {
    iphoneAgentCommand: ['/own', 'start', '{udid}:{port}', '{serial}', '{bundle}', '$(id)'],
    iphoneTunnelCommand: ['/own', 'tunnel', '{folder}'],
  })

  await rig.prepare()
  rig.launch()

  expect(rig.calls).toEqual([
    ['tunnel', rig.folder.file('data/go-ios')],
    ['start', `${UDID}:8123`, SERIAL, BUNDLE, '$(id)'],
  ])
})

test('an owner who starts the agents has no launcher', () => {
  expect(() => new LaunchRig('attach')).toThrow('There is no launcher.')
})

test.each(['go-ios', 'xcodebuild'] as const)(
  '%s is not started for a UDID that is none',
  async (preset) => {
    await using rig = new LaunchRig(preset)
    const bad = [`${UDID}; id`, '$(id)', `${UDID}\n`, `-v ${UDID}`, '-h', '']
    const phones = bad.flatMap((id) => [
      { udid: id, serial: UDID },
      { udid: UDID, serial: id },
    ])

    const prepared = await Promise.all(phones.map((phone) => rig.launcher.prepare(phone, NEVER)))
    const launched = phones.map((phone) => rig.launcher.launch(phone))

    const trouble = { code: 'launch_failed', why: 'The phone gives no valid UDID.' } as const
    expect([...prepared, ...launched]).toEqual([...phones, ...phones].map(() => trouble))
    expect(rig.calls).toEqual([])
  },
)

test('an agent runs until it is stopped, and others run on', async () => {
  await using rig = new LaunchRig('xcodebuild')
  const launched = rig.launch()
  rig.launch(OTHER)

  await launched.stop()
  await launched.stop()

  expect(rig.started.map(({ isAlive }) => isAlive)).toEqual([false, true])
  expect(await launched.ended).toEqual({ code: 'launch_failed', why: 'A signal ended it.' })
})

test('nothing is left when the relay ends, and nothing more is started', async () => {
  await using rig = new LaunchRig('go-ios')
  await rig.prepare()
  rig.launch()
  rig.launch(OTHER)
  const before = rig.alive.length

  await rig.stop()

  expect([before, rig.alive.length]).toEqual([3, 0])
  expect(rig.launcher.launch(PHONE)).toEqual({ code: 'launch_failed', why: 'The relay is ending.' })
})

test('a phone that is pulled out meanwhile leaves nothing under way', async () => {
  await using rig = new LaunchRig('go-ios')
  rig.mount = untilAborted
  const pulled = new AbortController()
  const preparing = rig.launcher.prepare(PHONE, pulled.signal)
  await rig.clock.advance(10_000)

  pulled.abort()

  expect(rig.calls.map(([word]) => word)).toEqual(['tunnel', 'image'])
  expect(await preparing).toMatchObject({ code: 'launch_failed' })
  expect(rig.alive.map(isTunnel)).toEqual([true])
})

test('phones are prepared one after the other', async () => {
  await using rig = new LaunchRig('go-ios')
  const mounted = Promise.withResolvers<void>()
  rig.mount = async () => {
    await mounted.promise
    return exited(0)
  }
  const both = [rig.launcher.prepare(PHONE, NEVER), rig.launcher.prepare(OTHER, NEVER)]
  await rig.clock.advance(60_000)
  const images = () => rig.calls.filter(([word]) => word === 'image').length
  const before = images()

  mounted.resolve()

  expect(await Promise.all(both)).toEqual([null, null])
  expect([before, images()]).toEqual([1, 2])
})

test('a program that is not there is said to be missing, and a value that no option gives is named', async () => {
  await using goIos = new LaunchRig('go-ios', { iphoneGoIos: NOWHERE })
  await using xcode = new LaunchRig('xcodebuild', { iphoneXcodebuild: NOWHERE })
  await using unnamed = new LaunchRig('xcodebuild', { iphoneXctestrun: null })

  const troubles = [
    await goIos.prepare(),
    ...[goIos, xcode, unnamed].map(({ launcher }) => launcher.launch(PHONE)),
  ]

  const code = 'launcher_absent'
  const absent = { code, why: 'The program cannot be started: ENOENT.' } as const
  const missing = { code, why: 'No option gives a value for {xctestrun}.' } as const
  expect(troubles).toEqual([absent, absent, absent, missing])
})

test('of a command that fails its exit code and last lines are reported, without the ids of the phone', async () => {
  await using rig = new LaunchRig('go-ios')
  rig.mount = async () => exited(2, 'no internet')
  rig.onStart = (process) => {
    if (isTunnel(process)) return
    process.says('one\ntwo\n')
    process.says(`no id=${UDID}, ${SERIAL}\nlast`, 'stderr')
    process.exit(65)
  }

  const troubles = [await rig.prepare(), await rig.ended()]

  expect(troubles).toEqual([
    {
      code: 'image_mount_failed',
      why: 'It ended with exit code 2. Its last lines: no internet',
    },
    {
      code: 'launch_failed',
      why: 'It ended with exit code 65. Its last lines: two | no id=…, … | last',
    },
  ])
})

test('an agent that has answered may quote the screen, and is not quoted', async () => {
  await using rig = new LaunchRig('xcodebuild')
  const launched = rig.launch()
  const [agent] = rig.started
  agent?.says('early\n')

  launched.ignoreOutput()
  agent?.says('late\n')
  agent?.exit(1)

  expect(await launched.ended).toEqual({ code: 'launch_failed', why: 'It ended with exit code 1.' })
})

test('a folder that cannot be made is a tunnel that does not stand', async () => {
  await using rig = new LaunchRig('go-ios')
  writeFileSync(rig.folder.file('data'), '')

  expect(await rig.prepare()).toEqual({
    code: 'tunnel_failed',
    why: 'Its folder cannot be made: ENOTDIR.',
  })
  expect(rig.calls).toEqual([])
})

test('a tunnel that dies is made again after a second, then ever later, and that is reported once', async () => {
  await using rig = new LaunchRig('go-ios')
  rig.onStart = (process) => {
    process.says('address already in use', 'stderr')
    process.exit(1)
  }

  await rig.prepare()
  await rig.clock.advance(8_000)

  const warnings = rig.lines.filter(([level]) => level === 'warn')
  expect(rig.tunnels.map(({ at }) => at)).toEqual([0, 1_000, 3_000, 7_000])
  expect(warnings.map(([, message]) => message)).toEqual(['the tunnel command for iPhones ended'])
})

test('an agent that ends beside a tunnel that has ended says why both did', async () => {
  await using rig = new LaunchRig('go-ios')
  rig.onStart = (process) => {
    process.says(isTunnel(process) ? 'no tunnel today' : 'no way', 'stderr')
    process.exit(1)
  }
  await rig.prepare()

  expect(await rig.ended()).toEqual({
    code: 'tunnel_failed',
    why:
      'It ended with exit code 1. Its last lines: no way The tunnel: It ended with exit code 1. ' +
      'Its last lines: no tunnel today',
  })
})

describe('an agent that ends and never answered, beside a tunnel that has stood for a minute,', () => {
  const failing = async (rig: LaunchRig) => {
    rig.onStart = (process) => {
      if (process.args.includes(`--udid=${SERIAL}`)) process.exit(1)
    }
    await rig.prepare()
    await rig.clock.advance(60_000)
    const { code } = await rig.ended()
    await rig.clock.advance(10_000)
    const refreshed = rig.calls.filter(([, word]) => word === 'refresh')
    return { code, refreshed, tunnels: rig.tunnels.map(({ isAlive }) => isAlive) }
  }
  const code = 'launch_failed'
  const refreshed = [['tunnel', 'refresh', `--udid=${SERIAL}`]]
  const unknownCommand = () => exited(1, 'Usage: ios ...')

  test('has the tunnel of its phone made again, while another agent lives on', async () => {
    await using rig = new LaunchRig('go-ios')
    rig.launch(OTHER)

    expect(await failing(rig)).toEqual({ code, refreshed, tunnels: [true] })
    expect(rig.alive).toHaveLength(2)
  })

  test('has that done once a minute, and is not to blame for a tunnel', async () => {
    await using rig = new LaunchRig('go-ios')
    await failing(rig)

    const troubles = [await rig.ended(), await rig.ended()]
    const soon = rig.calls.filter(([, word]) => word === 'refresh').length
    await rig.clock.advance(60_000)
    await rig.ended()

    expect(troubles.map((trouble) => trouble.code)).toEqual([code, code])
    expect(soon).toBe(1)
    expect(rig.calls.filter(([, word]) => word === 'refresh')).toHaveLength(2)
  })

  test('has an older go-ios started again, which knows no tunnel of one phone', async () => {
    await using rig = new LaunchRig('go-ios')
    rig.refresh = unknownCommand

    expect(await failing(rig)).toEqual({ code, refreshed, tunnels: [false, true] })
  })

  test('leaves an older go-ios alone that carries another agent', async () => {
    await using rig = new LaunchRig('go-ios')
    rig.refresh = unknownCommand
    rig.launch(OTHER)

    expect(await failing(rig)).toEqual({ code, refreshed, tunnels: [true] })
  })

  test('has the tunnel command of the owner started again, if no other agent lives', async () => {
    await using rig = new LaunchRig('attach', {
      iphoneAgentCommand: ['/own', 'start', '--udid={serial}'],
      iphoneTunnelCommand: ['/own', 'tunnel'],
    })
    rig.refresh = unknownCommand

    const { tunnels } = await failing(rig)

    expect(tunnels).toEqual([false, true])
    expect(rig.calls.filter(([, word]) => word === 'refresh')).toEqual([])
  })
})
