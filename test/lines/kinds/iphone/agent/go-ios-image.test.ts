// What go-ios needs on a phone before it can start an agent there: Apple's image for developers.

import { expect, test } from 'bun:test'
import { existsSync, statSync } from 'node:fs'

import type { LaunchTrouble } from '../../../../../src/lines/kinds/iphone/agent/launcher.ts'
import type { IMAGE_SAYS } from '../../../../support/iphone/fake-go-ios.ts'
import { OTHER_UDID, UDID } from '../../../../support/iphone/fake-phones.ts'
import { isAlive } from '../../../../support/iphone/fake-tool.ts'
import { LaunchRig } from '../../../../support/iphone/launch-rig.ts'
import { eventually } from '../../../../support/iphone/real-usbmuxd.ts'

const NEVER = new AbortController().signal

test('a phone is prepared by a tunnel and by the image, in a folder that is ours', async () => {
  await using rig = goIosRig()

  const trouble = await rig.prepare(UDID)

  const images = `${rig.goIosFolder}/images`
  const calls = rig.goIos.tool.argsOfCalls().filter(([, word]) => word !== 'ls')
  expect(trouble).toBeNull()
  expect(calls).toEqual([
    ['version'],
    ['tunnel', 'start', '--userspace', `--pair-record-path=${rig.goIosFolder}`],
    ['image', 'auto', `--udid=${UDID}`, `--basedir=${images}`],
  ])
  expect(statSync(rig.goIosFolder).mode & 0o777).toBe(0o700)
})

test('until go-ios has an image, phones are given theirs one after the other', async () => {
  await using rig = goIosRig()
  rig.goIos.image = 'stubborn'
  const first = rig.launcher.prepare(UDID, NEVER)
  await rig.comesTo(() => (rig.goIos.callsOf('image').length > 0 ? true : null), 'the first')
  const second = rig.launcher.prepare(OTHER_UDID, NEVER)
  await eventually(() => (rig.goIos.callsOf('tunnel', 'ls').length > 2 ? true : null), 'a look')
  await rig.clock.advance(1)
  const alone = rig.goIos.callsOf('image').length

  await eventually(
    () => (existsSync(`${rig.goIos.tool.folder}/hangs`) ? true : null),
    'its hanging',
  )
  rig.goIos.image = 'mounted'
  await rig.clock.advance(125_000)

  expect(alone).toBe(1)
  expect(await first).toEqual({
    code: 'image_mount_failed',
    why: 'It was not mounted within two minutes.',
  })
  expect(await second).toBeNull()
})

test('a phone whose image failed has not loaded one for the others', async () => {
  await using rig = goIosRig()
  rig.goIos.image = 'no_internet'
  await rig.prepare(UDID)
  rig.goIos.image = 'hang'
  const ends = [new AbortController(), new AbortController()] as const

  const first = rig.launcher.prepare(UDID, ends[0].signal)
  const second = rig.launcher.prepare(OTHER_UDID, ends[1].signal)
  await rig.comesTo(() => (rig.goIos.callsOf('image').length > 1 ? true : null), 'the image')
  const looked = await eventually(async () => {
    await rig.clock.advance(1)
    return rig.goIos.tool.alive().length === 2 ? rig.goIos.callsOf('image').length : null
  }, 'one that waits')
  ends[1].abort()
  const waited = await second
  ends[0].abort()

  expect(looked).toBe(2)
  expect(rig.goIos.callsOf('image')).toHaveLength(2)
  const off = { code: 'launch_failed', why: 'It was called off.' } as const
  expect([waited, await first]).toEqual([off, off])
})

test('go-ios is given the UDID of a phone as it writes it itself', async () => {
  const dashless = UDID.replace('-', '').toLowerCase()
  await using rig = new LaunchRig({ launcher: 'go-ios' })
  rig.goIos.phones = [dashless]

  await rig.prepare(UDID)
  await rig.launch(UDID)
  await eventually(() => rig.goIos.callsOf('runwda')[0] ?? null, 'the start')

  const named = [...rig.goIos.callsOf('image'), ...rig.goIos.callsOf('runwda')]
  expect(named.map((args) => args.find((arg) => arg.startsWith('--udid=')))).toEqual([
    `--udid=${dashless}`,
    `--udid=${dashless}`,
  ])
})

test('the tunnel ends with the relay, and what is under way with it', async () => {
  await using rig = goIosRig()
  rig.goIos.image = 'hang'
  const preparing = rig.launcher.prepare(UDID, NEVER)
  await rig.comesTo(() => (rig.goIos.callsOf('image').length > 0 ? true : null), 'the image')
  const pid = rig.goIos.tunnelPid ?? 0
  const before = isAlive(pid)

  await rig.stop()

  const late = await rig.launcher.prepare(UDID, NEVER)
  expect([before, isAlive(pid)]).toEqual([true, false])
  expect(late).toEqual({ code: 'launch_failed', why: 'It was called off.' })
  expect((await preparing)?.why).toBe('It was called off.')
  expect(rig.goIos.tool.alive()).toEqual([])
})

test('a phone that is pulled out meanwhile leaves nothing under way', async () => {
  await using rig = goIosRig()
  const [first, second] = [new AbortController(), new AbortController()]
  rig.goIos.phones = []
  const waiting = rig.launcher.prepare(UDID, first.signal)
  await rig.comesTo(() => rig.goIos.tunnelPid, 'the tunnel')

  first.abort()
  const called = await waiting
  rig.goIos.phones = [UDID]
  rig.goIos.image = 'hang'
  const mounting = rig.launcher.prepare(UDID, second.signal)
  await rig.comesTo(() => (rig.goIos.callsOf('image').length > 0 ? true : null), 'the image')
  second.abort()
  await mounting

  expect(called).toEqual({ code: 'launch_failed', why: 'It was called off.' })
  expect(rig.goIos.tool.alive()).toEqual([rig.goIos.tunnelPid ?? 0])
})

const NO_INTERNET = 'mostly there is no internet.'
const IMAGE_TROUBLES: Readonly<
  Record<Exclude<keyof typeof IMAGE_SAYS, 'mounted' | 'hang' | 'stubborn'>, LaunchTrouble>
> = {
  no_internet: unmounted(`The image could not be loaded; ${NO_INTERNET}`),
  not_signed: unmounted(`Apple did not sign the image for the phone; ${NO_INTERNET}`),
  too_old: unmounted('The image in the folder of go-ios is too old for this phone; delete it.'),
  locked: unmounted('The phone is locked.'),
  unknown: unmounted('go-ios could not mount it.'),
  crash: unmounted('go-ios could not mount it.'),
  gone: { code: 'launch_failed', why: 'go-ios does not see the phone.' },
}

for (const [says, trouble] of Object.entries(IMAGE_TROUBLES)) {
  test(`an image that is not mounted is told: ${says}`, async () => {
    await using rig = goIosRig()
    rig.goIos.image = says as keyof typeof IMAGE_SAYS // A key of the table.

    const first = await rig.prepare(UDID)
    rig.goIos.image = 'mounted'

    expect(first).toEqual(trouble)
    expect(await rig.prepare(UDID)).toBeNull()
  })
}

test('an image that is not mounted within two minutes is given up', async () => {
  await using rig = goIosRig()
  rig.goIos.image = 'hang'
  const preparing = rig.launcher.prepare(UDID, NEVER)
  await rig.comesTo(() => (rig.goIos.callsOf('image').length > 0 ? true : null), 'the image')
  const [pid = 0] = rig.goIos.tool
    .calls()
    .flatMap(({ pid, args }) => (args[0] === 'image' ? pid : []))

  await rig.clock.advance(119_999)
  const before = isAlive(pid)
  await rig.clock.advance(1)

  expect(await preparing).toEqual(unmounted('It was not mounted within two minutes.'))
  expect([before, isAlive(pid)]).toEqual([true, false])
})

function goIosRig(): LaunchRig {
  const rig = new LaunchRig({ launcher: 'go-ios' })
  rig.goIos.phones = [UDID, OTHER_UDID]
  return rig
}

function unmounted(why: string): LaunchTrouble {
  return { code: 'image_mount_failed', why }
}
