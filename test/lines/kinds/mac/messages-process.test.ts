// Messages in a process of its own is gone with the process that started it: else each test that is killed
// would leave one behind.

import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { eventually } from '../../../support/eventually.ts'
import { askMessages } from '../../../support/mac/messages-control.ts'
import { ScratchFolder } from '../../../support/scratch-folder.ts'

const RIG_PATH = join(import.meta.dir, '../../../support/mac/mac-rig.ts')

test('it ends when the process that started it is killed', async () => {
  using folder = new ScratchFolder()
  const code = `const { startMessages } = await import(${JSON.stringify(RIG_PATH)})
    await startMessages(${JSON.stringify(folder.path)}, 'macos26a')
    console.log('started')
    setInterval(() => {}, 1000)`
  const parent = Bun.spawn([process.execPath, '-e', code], { stdout: 'pipe', stderr: 'inherit' })
  await parent.stdout.getReader().read()
  const isThere = () => {
    const socket = join(folder.path, 'messages.sock')
    return askMessages(socket, '/order/letters', null).then(
      () => true,
      () => false,
    )
  }
  const before = await isThere()

  parent.kill('SIGKILL')
  await parent.exited

  expect(before).toBe(true)
  await eventually('it is gone', async () => ((await isThere()) ? null : true))
})
