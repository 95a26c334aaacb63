import { expect, test } from 'bun:test'
import { join } from 'node:path'

import { HeldElsewhereError, takeInstanceLock } from '../../src/system/instance-lock.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TEST_START } from '../support/test-clock.ts'

const MODULE = join(import.meta.dir, '..', '..', 'src', 'system', 'instance-lock.ts')
const HOLDER = { since: TEST_START, task: 'relay', address: 'http://127.0.0.1:4665' }

/** A process of its own that holds the lock until it is killed. */
async function holdElsewhere(path: string): Promise<Bun.Subprocess<'ignore', 'pipe'>> {
  const script = `
    import { takeInstanceLock } from ${JSON.stringify(MODULE)}
    takeInstanceLock(${JSON.stringify(path)}, ${JSON.stringify(HOLDER)})
    console.log('held')
    setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdin: 'ignore', stdout: 'pipe' })
  await child.stdout.getReader().read()
  return child
}

function refusalOf(path: string): unknown {
  try {
    takeInstanceLock(path, HOLDER).release()
  } catch (error) {
    return error
  }
  return null
}

test('a second process learns who holds the data directory, until that one is killed', async () => {
  using folder = new ScratchFolder()
  const path = folder.file('hookline.lock')
  const child = await holdElsewhere(path)

  const refusal = refusalOf(path)
  child.kill('SIGKILL')
  await child.exited
  const afterwards = [refusalOf(path), refusalOf(path)]

  expect(refusal).toBeInstanceOf(HeldElsewhereError)
  expect(refusal).toMatchObject({
    holder: { ...HOLDER, pid: child.pid },
    message:
      `Another Hookline is using this data directory: a relay, process ${child.pid}, ` +
      `since 2026-11-21T10:00:00.000Z, at http://127.0.0.1:4665. (${path})`,
  })
  // One that was given back can be taken again.
  expect(afterwards).toEqual([null, null])
})
