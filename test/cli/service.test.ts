import { expect, test } from 'bun:test'
import { existsSync } from 'node:fs'

import { UsageError } from '../../src/cli/command.ts'
import { HostingRig } from './hosting-rig.ts'

const INSTALLING = ['enable-linger', 'daemon-reload', 'enable']

test('down stops the service and says how it comes back; without one it has nothing to do', async () => {
  using rig = await HostingRig.withService()
  using without = new HostingRig()

  const down = await rig.run('down')
  const status = await rig.run('status')
  const idle = await without.run('down')

  expect([down.exitCode, down.lines, rig.verbs()]).toEqual([0, ['Relay stopped.'], ['stop']])
  expect(down.notes[0]).toBe('It starts again with the machine. Start it now: hookline up')
  expect(status.lines.at(-1)).toBe('service  systemd user service, stopped')
  expect([idle.exitCode, idle.lines, without.verbs()]).toEqual([
    0,
    ['The service is not running.'],
    [],
  ])
})

test('service install starts nothing, and service uninstall removes it', async () => {
  using rig = new HostingRig()
  const unit = rig.folder.file('.config/systemd/user/hookline.service')

  const first = await rig.run('service install')
  const second = await rig.run('service install')
  const installing = rig.verbs()
  const removed = await rig.run('service uninstall')
  const again = await rig.run('service uninstall')

  expect([first, second, removed, again].map(({ lines }) => lines)).toEqual([
    ['Installed as a systemd user service.'],
    ['Already installed as a systemd user service.'],
    ['Service removed.'],
    ['No service is installed.'],
  ])
  expect(installing).toEqual([...INSTALLING, ...INSTALLING])
  expect(existsSync(unit)).toBe(false)
})

test('the sources cannot be installed', async () => {
  using rig = new HostingRig()
  Object.assign(rig, { executable: null })

  await expect(rig.run('service install')).rejects.toBeInstanceOf(UsageError)
})
