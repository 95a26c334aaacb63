// What becomes of files if a folder of the store is deleted while the relay runs, by a cleaner of temporary
// files or of empty folders, or by hand.

import { expect, test } from 'bun:test'
import { rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'

import { ANNA as RECIPIENT, photo, startRich as startReceiving } from '../story/rich-relay.ts'
import { startRich } from '../support/rich-relay.ts'
import { guidOf } from '../support/scripted-driver.ts'
import { startWithFiles } from './attachment-relay.ts'

const FOLDERS = ['attachments', 'attachments/incoming']

for (const folder of FOLDERS) {
  test(`when ${folder} is deleted, the next upload makes it again`, async () => {
    await using relay = await startWithFiles()
    await relay.upload('first')

    rmSync(relay.folder.file(folder), { recursive: true })
    const { status, body } = await relay.upload('second')

    expect(status).toBe(201)
    expect(await (await relay.content(body.id)).text()).toBe('second')
  })

  test(`when ${folder} is deleted, a received file is kept all the same`, async () => {
    await using world = await startReceiving()
    const receive = (count: number) => {
      const attachments = [photo(`at-${count}`, world.fileOf(`photo ${count}`))]
      return world.receive(guidOf(count), { attachments })
    }
    await receive(1)

    rmSync(world.folder.file(folder), { recursive: true })
    await receive(2)

    const [message] = (await world.relay.get('/api/v1/messages')).data
    expect(message.attachments).toMatchObject([{ state: 'available' }])
  })
}

test('a received file that cannot be copied now waits with its message, and is not called missing', async () => {
  await using world = await startReceiving()
  const { relay, folder } = world
  await world.receive(guidOf(1), { attachments: [photo('at-1', world.fileOf('first'))] })
  // As if the folder lay on a disk that is unmounted.
  rmSync(folder.file('attachments'), { recursive: true })
  symlinkSync(folder.file('nowhere'), folder.file('attachments'))

  const refused = await world
    .receive(guidOf(2), { attachments: [photo('at-2', world.fileOf('second'))] })
    .then(
      () => 'stored',
      () => 'not stored',
    )

  const { data } = await relay.get('/api/v1/messages')
  expect([refused, data.length]).toEqual(['not stored', 1])
})

test('room that was freed by hand counts as free again', async () => {
  await using relay = await startWithFiles()
  await relay.set('attachment_quota_gb', '1')
  relay.occupy(1_024 ** 3)
  const upload = () => relay.upload('x', '', { 'content-length': '1' })
  const full = await upload()

  rmSync(relay.folder.file('attachments'), { recursive: true })
  const { status } = await upload()

  expect([full.status, status]).toEqual([503, 201])
})

test('a file that is gone is called missing and a finding says so, until its bytes are here again', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('menu')
  const look = async () => {
    const { body: seen } = await relay.ask('GET', `/api/v1/attachments/${body.id}`)
    const { status } = await relay.content(body.id)
    const link = await relay.ask('POST', `/api/v1/attachments/${body.id}/link`, { body: {} })
    const findings = await relay.findings('attachments_missing')
    return [seen.state, seen.variants, status, link.status, findings.length]
  }
  const before = await look()

  rmSync(relay.folder.file('attachments'), { recursive: true })
  const gone = await look()
  await relay.upload('menu')
  const again = await look()

  const whole = ['available', expect.arrayContaining(['original']), 200, 200, 0]
  expect([before, gone, again]).toEqual([whole, ['missing', [], 410, 410, 1], whole])
})

test('a message that fails because its file is gone shows the file as missing, in its event too', async () => {
  await using relay = await startRich()
  const hook = 'https://receiver.example/hook'
  await relay.post('/api/v1/webhooks', { url: hook, events: ['message.failed'] })
  const attachments = [{ id: await relay.file('menu') }]
  await relay.device.goOffline()
  const { body } = await relay.send({ to: RECIPIENT, text: 'hi', attachments })

  relay.loseFiles()
  await relay.device.goOnline()
  await relay.clock.advance(1_000)

  const message = await relay.message(body.id)
  const [event] = relay.sink.to(hook).map((posted) => JSON.parse(posted.body))
  expect([message.status, message.error.code]).toEqual(['failed', 'attachment_missing'])
  expect(message.attachments).toMatchObject([{ state: 'missing' }])
  expect(event.message.attachments).toMatchObject([{ state: 'missing' }])
  await relay.file('menu')
  expect((await relay.message(body.id)).attachments).toMatchObject([{ state: 'available' }])
})

const DAMAGES: readonly (readonly [what: string, damage: (path: string) => void])[] = [
  ['is cut', (path) => truncateSync(path, 2)],
  ['has other bytes', (path) => writeFileSync(path, 'venu')],
]

for (const [what, damage] of DAMAGES) {
  test(`a file that ${what} is whole again once the same bytes are uploaded`, async () => {
    await using relay = await startWithFiles()
    const { body } = await relay.upload('menu')
    const path = relay.folder.file(`attachments/${body.sha256.slice(0, 2)}/${body.sha256}`)

    damage(path)
    const again = await relay.upload('menu')

    expect(again.status).toBe(201)
    expect(await (await relay.content(body.id)).text()).toBe('menu')
  })
}

test('a file that is cut is not handed out as if it were whole', async () => {
  await using relay = await startWithFiles()
  const { body } = await relay.upload('menu')

  truncateSync(relay.folder.file(`attachments/${body.sha256.slice(0, 2)}/${body.sha256}`), 2)

  expect((await relay.content(body.id)).status).toBe(410)
  expect(await relay.findings('attachments_missing')).toHaveLength(1)
})
