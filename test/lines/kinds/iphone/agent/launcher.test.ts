// The commands that start agents, with real processes: small scripts that stand in for the owner's command,
// for go-ios and for xcodebuild.

import { describe, expect, test } from 'bun:test'
import { existsSync, statSync, writeFileSync } from 'node:fs'

import { OTHER_UDID, UDID } from '../../../../support/iphone/fake-phones.ts'
import {
  BUNDLE,
  FakeTool,
  isAlive,
  LaunchRig,
  OTHER,
  PHONE,
  SERIAL,
} from '../../../../support/iphone/launch-rig.ts'
import { eventually } from '../../../../support/relay-process.ts'
import { ScratchFolder } from '../../../../support/scratch-folder.ts'

const NEVER = new AbortController().signal
const TUNNEL = 'tunnel'

/** The commands of a preset, in order. */
const PRESETS: Readonly<
  Record<'go-ios' | 'xcodebuild', (rig: LaunchRig) => readonly (readonly string[])[]>
> = {
  'go-ios': ({ folder }) => [
    [TUNNEL, 'start', '--userspace', `--pair-record-path=${folder.file('data/go-ios')}`],
    ['image', 'auto', `--udid=${SERIAL}`, `--basedir=${folder.file('data/go-ios')}/images`],
    [
      'runwda',
      `--udid=${SERIAL}`,
      `--bundleid=${BUNDLE}`,
      `--testrunnerbundleid=${BUNDLE}`,
      '--xctestconfig=WebDriverAgentRunner.xctest',
      // The agent listens on the phone only.
      '--env=USE_IP=127.0.0.1',
      '--env=USE_PORT=8123',
    ],
  ],
  xcodebuild: ({ folder }) => [
    [
      'test-without-building',
      '-xctestrun',
      folder.file('wda.xctestrun'),
      '-destination',
      `id=${UDID}`,
    ],
  ],
}
/** What a program learns of our environment: where it is and who its user is. */
const KNOWN = ['HOME', 'LANG', 'PATH', 'TMPDIR', 'USER', 'XDG_RUNTIME_DIR']

for (const preset of ['go-ios', 'xcodebuild'] as const) {
  test(`${preset} prepares and starts an agent, and learns no secret of our environment`, async () => {
    await using rig = new LaunchRig(preset)
    const commands = PRESETS[preset](rig)
    process.env['HOOKLINE_ADMIN_PASSWORD'] = 'secret'

    const trouble = await rig.prepare()
    rig.launch()
    await rig.calls(commands.length)
    delete process.env['HOOKLINE_ADMIN_PASSWORD']

    const environments = rig.tool.calls().map(({ environment }) => {
      return Object.fromEntries(
        Object.entries(environment).filter(([name]) => !KNOWN.includes(name)),
      )
    })
    expect(trouble).toBeNull()
    expect(rig.tool.argsOfCalls()).toEqual(commands)
    expect(Object.assign({}, ...environments)).toEqual({
      TEST_RUNNER_USE_IP: '127.0.0.1',
      TEST_RUNNER_USE_PORT: '8123',
    })
  })

  test(`${preset} is not started for a UDID that is none`, async () => {
    await using rig = new LaunchRig(preset)
    const trap = rig.folder.file('trap')
    const bad = [`${UDID}; touch ${trap}`, `$(touch ${trap})`, `${UDID}\n`, `-v ${UDID}`, '-h', '']
    const phones = bad.flatMap((id) => [
      { udid: id, serial: UDID },
      { udid: UDID, serial: id },
    ])

    const prepared = await Promise.all(phones.map((phone) => rig.launcher.prepare(phone, NEVER)))
    const launched = phones.map((phone) => rig.launcher.launch(phone))

    const trouble = { code: 'launch_failed', why: 'The phone gives no valid UDID.' } as const
    expect([...prepared, ...launched]).toEqual([...phones, ...phones].map(() => trouble))
    expect(rig.tool.calls()).toEqual([])
    expect(existsSync(trap)).toBe(false)
  })
}

test('the command of the owner runs with its values filled in, and so does that of the tunnel, whose folder is private', async () => {
  const folder = new ScratchFolder()
  const own = new FakeTool(folder.path, 'own', 'exec sleep 60')
  await using rig = new LaunchRig('attach', {
    iphoneAgentCommand: [own.path, 'start', '{udid}:{port}', '{serial}', '{bundle}', '$(id)'],
    iphoneTunnelCommand: [own.path, 'tunnel', '{folder}'],
  })

  await rig.prepare()
  rig.launch()
  await eventually('both commands', () => (own.calls().length === 2 ? true : null))

  expect(own.argsOfCalls()).toEqual([
    ['tunnel', rig.folder.file('data/go-ios')],
    ['start', `${UDID}:8123`, SERIAL, BUNDLE, '$(id)'],
  ])
  expect(statSync(rig.folder.file('data/go-ios')).mode & 0o777).toBe(0o700)
  folder[Symbol.dispose]()
})

test('an owner who starts the agents has no launcher', () => {
  expect(() => new LaunchRig('attach')).toThrow('There is no launcher.')
})

test('an agent runs until it is stopped, and others of its name run on', async () => {
  await using rig = new LaunchRig('xcodebuild')
  const other = Bun.spawn([rig.tool.path, 'other'], { detached: true })
  const launched = rig.launch()
  rig.launch(OTHER)
  await rig.calls(3)
  const pidOf = (udid: string) =>
    rig.tool.calls().find(({ args }) => args.includes(`id=${udid}`))?.pid ?? 0

  await launched.stop()
  await launched.stop()

  const alive = [other.pid, pidOf(UDID), pidOf(OTHER_UDID)].map(isAlive)
  expect(alive).toEqual([true, false, true])
  expect(await launched.ended).toEqual({ code: 'launch_failed', why: 'A signal ended it.' })
})

test('an agent that does not end by itself is killed after five seconds, with what it has started', async () => {
  await using rig = new LaunchRig('xcodebuild')
  const file = rig.folder.file('child')
  rig.does({ agent: `trap '' TERM; sleep 60 & echo $! > '${file}'; exec sleep 60` })
  const launched = rig.launch()
  const child = await eventually('its child', async () => {
    const text = existsSync(file) ? await Bun.file(file).text() : ''
    return text === '' ? null : Number(text)
  })
  const [pid = 0] = rig.tool.alive()

  const stopping = launched.stop()
  await rig.clock.advance(4_999)
  const isLeft = isAlive(pid)
  await rig.clock.advance(1)
  await stopping

  expect([isLeft, isAlive(pid)]).toEqual([true, false])
  await eventually('the end of its child', () => (isAlive(child) ? null : true))
})

test('nothing is left when the relay ends, and nothing more is started', async () => {
  await using rig = new LaunchRig('go-ios')
  await rig.prepare()
  rig.launch()
  rig.launch(OTHER)
  await eventually('their start', () => (rig.tool.alive().length === 3 ? true : null))

  await rig.stop()

  expect(rig.launcher.launch(PHONE)).toEqual({ code: 'launch_failed', why: 'The relay is ending.' })
  expect(rig.tool.alive()).toEqual([])
})

test('a phone that is pulled out meanwhile leaves nothing under way', async () => {
  await using rig = new LaunchRig('go-ios')
  rig.does({ image: 'exec sleep 60' })
  const pulled = new AbortController()
  const preparing = rig.prepare(PHONE, pulled.signal)
  await eventually('the image', () => (rig.commands.includes('image') ? true : null))

  pulled.abort()

  expect(await preparing).toMatchObject({ code: 'launch_failed' })
  await eventually('only the tunnel', () => (rig.tool.alive().length === 1 ? true : null))
})

test('phones are prepared one after the other', async () => {
  await using rig = new LaunchRig('go-ios')
  const marker = rig.folder.file('busy')
  rig.does({ image: `mkdir '${marker}' || exit 3; sleep 0.1; rmdir '${marker}'` })

  const troubles = await Promise.all([rig.prepare(PHONE), rig.prepare(OTHER)])

  expect(troubles).toEqual([null, null])
})

test('a program that is not there is said to be missing, and a value that no option gives is named', async () => {
  const path = '/nowhere/tool'
  await using goIos = new LaunchRig('go-ios', { iphoneGoIos: path })
  await using xcode = new LaunchRig('xcodebuild', { iphoneXcodebuild: path })
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

test('of a command that fails its exit code and last lines are told, without the ids of the phone', async () => {
  await using goIos = new LaunchRig('go-ios')
  await using xcode = new LaunchRig('xcodebuild')
  goIos.does({ image: 'echo no internet >&2; exit 2' })
  xcode.does({ agent: `echo one; echo two; echo "no $5" >&2; printf 'last' >&2; exit 65` })

  const troubles = [await goIos.prepare(), await xcode.ended()]

  expect(troubles).toEqual([
    {
      code: 'image_mount_failed',
      why: 'It ended with exit code 2. Its last lines: no internet',
    },
    {
      code: 'launch_failed',
      why: 'It ended with exit code 65. Its last lines: two | no id=… | last',
    },
  ])
})

test('an agent that has answered may quote the screen, and is not quoted', async () => {
  await using rig = new LaunchRig('xcodebuild')
  const file = rig.folder.file('go')
  rig.does({
    agent: `echo early; while [ ! -e '${file}' ]; do sleep 0.02; done; echo late; exit 1`,
  })
  const launched = rig.launch()
  await rig.calls(1)

  launched.ignoreOutput()
  writeFileSync(file, '')

  expect(await launched.ended).toEqual({
    code: 'launch_failed',
    why: 'It ended with exit code 1.',
  })
})

test('a folder that cannot be made is a tunnel that does not stand', async () => {
  await using rig = new LaunchRig('go-ios')
  writeFileSync(rig.folder.file('data'), '')

  expect(await rig.prepare()).toEqual({
    code: 'tunnel_failed',
    why: 'Its folder cannot be made: ENOTDIR.',
  })
  expect(rig.tool.calls()).toEqual([])
})

test('a tunnel that dies is made anew after a second, then ever later, and it is told once', async () => {
  await using rig = new LaunchRig('go-ios')
  rig.does({ tunnel: 'echo address already in use >&2; exit 1' })

  await rig.prepare()
  const tunnels = () => rig.commands.filter((word) => word === TUNNEL).length
  await eventually('four tunnels', async () => {
    await rig.clock.advance(500)
    return tunnels() === 4 ? true : null
  })

  const warnings = rig.lines.filter(([level]) => level === 'warn')
  expect(warnings.map(([, message]) => message)).toEqual(['the tunnel command for iPhones ended'])
})

test('an agent that ends beside a tunnel that has ended says why both did', async () => {
  await using rig = new LaunchRig('go-ios')
  rig.does({ tunnel: 'echo no tunnel today >&2; exit 1', agent: 'echo no way >&2; exit 1' })
  await rig.prepare()

  expect(await rig.ended()).toEqual({
    code: 'tunnel_failed',
    why:
      'It ended with exit code 1. Its last lines: no way The tunnel: It ended with exit code 1. ' +
      'Its last lines: no tunnel today',
  })
})

describe('a tunnel that has stood for a minute', () => {
  const tunnelsOf = ({ commands }: LaunchRig) => commands.filter((word) => word === TUNNEL).length

  test('is made anew when an agent ends that never answered, and is not to blame for that', async () => {
    await using rig = new LaunchRig('go-ios')
    rig.does({ agent: 'exit 1' })
    await rig.prepare()
    await rig.clock.advance(60_000)

    const trouble = await rig.ended()
    await eventually('another tunnel', async () => {
      await rig.clock.advance(100)
      return tunnelsOf(rig) === 2 ? true : null
    })

    expect([trouble.code, (await rig.ended()).code]).toEqual(['launch_failed', 'launch_failed'])
  })

  test('stays while it carries another agent', async () => {
    await using rig = new LaunchRig('go-ios')
    rig.does({ agent: `case "$*" in *${SERIAL}*) exit 1 ;; esac; exec sleep 60` })
    rig.launch(OTHER)
    await rig.prepare()
    await rig.clock.advance(60_000)
    const [tunnel = 0] = rig.tool.alive(TUNNEL)

    // A tunnel that is made anew has got its signal before the end of its agent is told.
    const troubles = [await rig.ended(), await rig.ended()]
    await rig.clock.advance(10_000)

    expect(troubles.map(({ code }) => code)).toEqual(['launch_failed', 'launch_failed'])
    expect([rig.tool.alive(TUNNEL), tunnelsOf(rig)]).toEqual([[tunnel], 1])
  })
})
