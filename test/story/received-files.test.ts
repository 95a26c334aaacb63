import { expect, test } from 'bun:test'

import { guidOf } from '../support/scripted-driver.ts'
import { ANNA, PENDING, photo, startRich } from './rich-relay.ts'

const MESSAGE = guidOf(1)

test('a photo is kept with its message, and announced with it at once', async () => {
  await using world = await startRich()
  const { relay } = world

  const file = world.fileOf('a photo')
  await world.receive(MESSAGE, { text: '', attachments: [photo('at-1', file)] })

  const [body] = await world.bodies()
  const [message] = (await relay.get('/api/v1/messages')).data
  const [attachment] = message.attachments
  expect(attachment).toMatchObject({ filename: 'IMG_1.HEIC', size: 7, state: 'available' })
  expect(attachment.url).toBe(`/api/v1/attachments/${attachment.id}/content`)
  expect(attachment).not.toHaveProperty('sent')
  expect(body).toMatchObject({ event: 'message.received', message: { id: message.id, text: '' } })
  expect(body.message.attachments).toEqual([attachment])
})

test('a message waits for its files, for ten seconds, and goes out with what is there', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { attachments: [photo('at-1', PENDING), photo('at-2', PENDING)] })
  await world.arrive(MESSAGE, photo('at-1', world.fileOf('first')))

  await world.clock.advance(9_900)
  const before = await world.names()
  await world.clock.advance(200)

  const [body, ...others] = await world.bodies()
  const states = body.message.attachments.map(({ state }: { state: string }) => state)
  expect(before).toEqual([])
  expect([states, others]).toEqual([['available', 'pending'], []])
  expect((await world.relay.get('/api/v1/messages')).data).toHaveLength(1)
})

test('it goes out as soon as the last file is here, and one that comes later has an event of its own', async () => {
  await using world = await startRich()
  const [first, second] = [guidOf(1), guidOf(2)]
  await world.receive(first, { attachments: [photo('at-1', PENDING)] })
  await world.receive(second, { attachments: [photo('at-2', PENDING), photo('at-3', PENDING)] })
  await world.arrive(first, photo('at-1', world.fileOf('in time')))
  const early = await world.names()

  await world.clock.advance(11_000)
  await world.arrive(second, photo('at-2', world.fileOf('late')))
  await world.arrive(second, photo('at-3', { state: 'failed' }))

  const [, , available, failed] = await world.bodies()
  expect(early).toEqual(['message.received'])
  expect(available).toMatchObject({
    event: 'attachment.available',
    message: { handle: ANNA, attachments: [{ state: 'available' }, { state: 'pending' }] },
    attachment: { state: 'available', size: 4 },
  })
  expect(failed).toMatchObject({ event: 'attachment.failed', attachment: { state: 'failed' } })
})

test('the same row and the same file twice change nothing', async () => {
  await using world = await startRich()
  const attachments = [photo('at-1', PENDING), photo('at-1', PENDING)]
  await world.receive(MESSAGE, { attachments })
  await world.receive(MESSAGE, { attachments })
  await world.arrive(MESSAGE, photo('at-1', world.fileOf('bytes')))
  await world.arrive(MESSAGE, photo('at-1', { state: 'failed' }))

  const { data } = await world.relay.get('/api/v1/messages')
  expect(data).toHaveLength(1)
  expect(data[0].attachments).toHaveLength(1)
  expect(data[0].attachments[0].state).toBe('available')
  expect(await world.names()).toEqual(['message.received'])
})

test('a restart waits on, and its driver looks for the files that have not come', async () => {
  await using world = await startRich()
  await world.receive(MESSAGE, { attachments: [photo('at-1', PENDING)] })
  const { key } = world.relay
  const stopping = world.relay.app.stop()
  await world.clock.advance(2_000)
  await stopping

  await using _again = await world.start(key)
  const [awaited] = world.device.attended.at(-1)?.awaited ?? []
  const waiting = await world.names()
  await world.arrive(MESSAGE, photo('at-1', world.fileOf('bytes')))

  expect(awaited).toEqual({ messageGuid: MESSAGE, attachmentGuid: 'at-1' })
  expect(waiting).toEqual([])
  expect(await world.names()).toEqual(['message.received'])
})

test('what comes after a file that is being copied is stored after it', async () => {
  await using world = await startRich()

  await Promise.all([
    world.receive(guidOf(1), { attachments: [photo('at-1', world.fileOf('first'))] }),
    world.receive(guidOf(2), { text: 'second' }),
    world.receive(guidOf(3), { text: 'third' }),
  ])

  const { data } = await world.relay.get('/api/v1/messages')
  const guids = data.map(({ guid }: { guid: string }) => guid)
  expect(guids).toEqual([guidOf(3), guidOf(2), guidOf(1)])
})

test('a file that is gone is missing, one of history is not kept, and neither is announced', async () => {
  await using world = await startRich()
  const gone = { state: 'available', path: '/nowhere/photo.heic' } as const
  const attachments = [photo('at-1', gone), photo('at-2', { state: 'not_kept' })]
  await world.receive(MESSAGE, { isHistory: true, attachments })

  const [message] = (await world.relay.get('/api/v1/messages')).data
  const states = message.attachments.map(({ state }: { state: string }) => state)
  expect(states).toEqual(['missing', 'not_kept'])
  expect(await world.names()).toEqual([])
})

test('names of files are base names, whatever the device says', async () => {
  await using world = await startRich()
  const names = ['../../etc/passwd', 'a\u202Efdp.exe', '', `${'x'.repeat(300)}.png`]
  const attachments = names.map((name, i) => photo(`at-${i}`, world.fileOf(`${i}`), name))
  await world.receive(MESSAGE, { attachments })

  const [message] = (await world.relay.get('/api/v1/messages')).data
  const shown = message.attachments.map(({ filename }: { filename: string }) => filename)
  expect(shown).toEqual(['passwd', 'afdp.exe', 'attachment', `${'x'.repeat(251)}.png`])
})

test('a webhook with attachment_links gets addresses that need no key, the same at each attempt', async () => {
  await using world = await startRich({ webhook: { attachment_links: true } })
  world.sink.answer = (_posted, index) => (index === 0 ? 500 : 200)
  await world.receive(MESSAGE, { attachments: [photo('at-1', world.fileOf('bytes'))] })
  await world.clock.advance(60_000)

  const [first, second] = await world.bodies()
  const [attachment] = first.message.attachments
  expect(attachment.download_url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/a\/\S+$/)
  expect(second).toEqual(first)
})
