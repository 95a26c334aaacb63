// Folders of the data directory, other than that of attachments, that are deleted while the relay runs.

import { expect, test } from 'bun:test'
import { readdirSync, rmSync, writeFileSync } from 'node:fs'

import { type LineEvent } from '../../src/lines/driver.ts'
import { BackupWorker } from '../../src/storage/backup.ts'
import { openData } from '../../src/storage/data.ts'
import type { RestoreWish } from '../../src/storage/restore.ts'
import { silentLog } from '../../src/system/log.ts'
import { systemRandom } from '../../src/system/random.ts'
import { Stage } from '../boxes/stage.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { eventually } from '../support/eventually.ts'
import { ScratchFolder } from '../support/scratch-folder.ts'
import { TestClock } from '../support/test-clock.ts'

async function start(folder: ScratchFolder, wishes: RestoreWish[] = []) {
  const clock = new TestClock()
  const place = { dataDir: folder.path, host: '127.0.0.1', port: 0 }
  const data = openData(place, { clock, random: systemRandom, log: silentLog, version: 'test' })
  const restore = (wish: RestoreWish) => void wishes.push(wish)
  const parts = { data, random: systemRandom, backupWorker: new BackupWorker(), restore }
  return startDashboard({ clock, parts })
}

test('a backup makes its folder again', async () => {
  using folder = new ScratchFolder()
  await using relay = await start(folder)
  const owner = await relay.claim()

  rmSync(folder.file('backups'), { recursive: true })
  const { status } = await owner.post('/dashboard/api/backup', {})

  expect(status).toBe(200)
  expect(readdirSync(folder.file('backups'))).toHaveLength(1)
})

test('an uploaded backup that is deleted is not restored: the relay runs on', async () => {
  using folder = new ScratchFolder()
  const wishes: RestoreWish[] = []
  await using relay = await start(folder, wishes)
  const owner = await relay.claim()
  const { body: download } = await owner.post('/dashboard/downloads', { backup: null })
  const archive = await (await owner.fetch('GET', download.url)).bytes()
  const { body } = await owner.upload('/dashboard/restore?filename=move.tar', archive)

  rmSync(folder.file('incoming'), { recursive: true })
  const started = await owner.post('/dashboard/restore/start', { id: body.id })
  const again = await owner.upload('/dashboard/restore?filename=move.tar', archive)

  expect([started.status, wishes.length]).toEqual([404, 0])
  expect(again.status).toBe(200)
})

test('a file that a box has received is carried although its folder was deleted', async () => {
  using stage = await Stage.running()
  const path = stage.rig.folder.file('photo.heic')
  writeFileSync(path, 'a photo')
  const states: string[] = []
  stage.line.gate.take = async (event: LineEvent) => {
    if (event.type !== 'message') return
    for (const { file } of event.message.attachments ?? []) states.push(file.state)
  }
  const file = { guid: 'F', filename: 'photo.heic', declaredType: null, size: null }
  const available = { state: 'available', path } as const

  rmSync(stage.rig.folder.file('received'), { recursive: true })
  const received = stage.device.receive({ guid: 'm', attachments: [{ ...file, file: available }] })

  await eventually('the file is carried', async () => {
    await stage.clock.advance(1_000)
    return states.length > 0 ? true : null
  })
  await received
  expect(states).toEqual(['available'])
})
