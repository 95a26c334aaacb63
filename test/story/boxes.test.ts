// Several boxes behind one relay, from the first invitation to the last line: the relay and the boxes are
// real, the network between them is in memory.

import { expect, test } from 'bun:test'

import { startWithBoxes } from '../support/boxes-rig.ts'
import { vanishes } from '../support/ended-relay.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { settle } from '../support/test-clock.ts'
import type { Json } from '../support/test-relay.ts'

const [FIRST, SECOND] = ['+12025550101', '+12025550102']
const PERSON = '+12025550147'
const ASYNC = { Prefer: 'respond-async' }

test('a relay without a box has no boxes, and takes no link', async () => {
  await using stage = await startWithBoxes()

  const boxes = await stage.owner('GET', '/boxes')
  const metrics = await metricsOf(stage)

  expect(boxes.body).toEqual({ data: [] })
  expect(stage.applied).toEqual([])
  expect(metrics).not.toContain('hookline_box_up')
})

test('a box joins, its line appears, sends and receives', async () => {
  await using stage = await startWithBoxes()
  const { relay } = stage

  const box = await stage.join('studio-3', [FIRST])
  const [line] = await relay.lines()
  const sent = await relay.send({ to: PERSON, text: 'Ready at eight.' })
  const device = box.driver.devices[0]
  await device?.receive({ guid: 'in-1', text: 'Thanks!' })
  await settle(20)
  const listed = (await stage.owner('GET', '/boxes')).body.data
  const [entry] = (await stage.owner('GET', '/audit?action=box.joined')).body.data

  expect(entry).toMatchObject({ actor: { kind: 'relay' }, about: { kind: 'box', id: box.id } })
  expect(line).toMatchObject({
    phone_number: FIRST,
    status: 'online',
    driver: 'mac',
    box: { id: box.id, name: 'studio-3' },
  })
  expect(sent.body).toMatchObject({ status: 'sent', phone_line_id: line.id })
  expect(device?.sent.map(({ text }) => text)).toEqual(['Ready at eight.'])
  expect((await textsOf(relay)).toSorted()).toEqual(['Ready at eight.', 'Thanks!'])
  expect(listed).toMatchObject([
    { id: box.id, name: 'studio-3', status: 'online', platform: 'darwin', free_bytes: 5e10 },
  ])
  expect(await metricsOf(stage)).toContain('hookline_box_up{box="studio-3"} 1')
})

for (const [name, discover] of [
  ['fails', () => Promise.reject(new Error('ioreg is missing'))],
  ['hangs', () => new Promise<never>(() => {})],
] as const) {
  test(`lines of boxes run while the driver of the head ${name}`, async () => {
    const here = new ScriptedDriver()
    await using stage = await startWithBoxes({ drivers: [here] })
    const { relay, clock } = stage
    here.discover = discover
    await clock.advance(60_000)

    await stage.join('attic', [FIRST])
    await clock.advance(5_000)
    const sent = await relay.send({ to: PERSON, text: 'Ready at eight.' })

    expect(sent.body.status).toBe('sent')
    expect((await findingsOf(relay)).map(({ code }) => code)).toContain('driver_failed')
  })

  test(`a line of a box stays online while the driver of its box ${name}`, async () => {
    await using stage = await startWithBoxes()
    const { relay, clock } = stage
    const box = await stage.join('attic', [FIRST])

    box.driver.discover = discover
    await clock.advance(60_000)
    const sent = await relay.send({ to: PERSON, text: 'Ready at eight.' })

    expect((await lineOf(relay, FIRST)).status).toBe('online')
    expect(sent.body.status).toBe('sent')
  })
}

test('while a box is away its messages wait, others go elsewhere, and both are sent once', async () => {
  const here = new ScriptedDriver()
  here.add(SECOND)
  await using stage = await startWithBoxes({ drivers: [here] })
  const { relay, clock } = stage
  const box = await stage.join('attic', [FIRST])
  const line = await lineOf(relay, FIRST)

  await box.cut()
  await clock.advance(7_000)
  const away = await lineOf(relay, FIRST)
  const pinned = relay.send({ to: PERSON, text: 'pinned', phone_line_id: line.id }, ASYNC)
  const free = relay.send({ to: '+12025550148', text: 'free' }, ASYNC)
  const [waiting, moved] = [await pinned, await free]
  await clock.advance(1_000)
  const elsewhere = here.devices[0]?.sent.map(({ text }) => text)
  await box.start()
  await clock.advance(10_000)

  expect(away).toMatchObject({ status: 'offline', status_reason: 'box_unreachable' })
  expect(waiting.body).toMatchObject({ status: 'queued' })
  expect(moved.status).toBeLessThan(300)
  expect(elsewhere).toEqual(['free'])
  expect(box.driver.devices[0]?.sent.map(({ text }) => text)).toEqual(['pinned'])
  expect((await relay.message(waiting.body.id)).status).toBe('sent')
})

test('a box whose disk takes nothing sends nothing: its message is tried once a second, and leaves once', async () => {
  await using stage = await startWithBoxes()
  const { relay, clock } = stage
  const box = await stage.join('attic', [FIRST])
  const [device] = box.driver.devices
  if (device === undefined) throw new Error('The box has no device.')

  box.setWritable(false)
  const { body } = await relay.send({ to: PERSON, text: 'Ready at eight.' }, ASYNC)
  await clock.advance(9_500)
  const waiting = await relay.message(body.id)
  const tries = device.given.length
  box.setWritable(true)
  await clock.advance(2_000)

  expect(waiting.status).toBe('queued')
  expect(tries).toBe(10)
  expect(device.sent.map(({ text }) => text)).toEqual(['Ready at eight.'])
  expect((await relay.message(body.id)).status).toBe('sent')
})

test('a box that is away is one finding, an error after a minute, above the lines of its own', async () => {
  await using stage = await startWithBoxes()
  const { relay, clock } = stage
  const box = await stage.join('attic', [FIRST, SECOND])

  await box.cut()
  await clock.advance(10_000)
  const soon = await findingsOf(relay)
  await clock.advance(60_000)
  const later = await findingsOf(relay)

  expect(soon.find(({ code }) => code === 'box_unreachable')).toMatchObject({
    severity: 'warning',
    title: 'The box attic is unreachable',
    about: { kind: 'box', id: box.id },
    boxes: [box.id],
  })
  expect(later.find(({ code }) => code === 'box_unreachable')?.severity).toBe('error')
  expect(later.filter(({ code }) => code === 'line_offline')).toMatchObject([
    { depends_on: 'box_unreachable', boxes: [box.id] },
    { depends_on: 'box_unreachable', boxes: [box.id] },
  ])
  expect(await metricsOf(stage)).toContain('hookline_box_up{box="attic"} 0')
})

test('a box gets another name, and is removed: its line goes on where its number is next', async () => {
  await using stage = await startWithBoxes()
  const { relay, clock } = stage
  await stage.join('hall', [])
  const attic = await stage.join('attic', [FIRST])
  const line = await lineOf(relay, FIRST)
  await clock.advance(1_000)

  const renamed = await stage.owner('PATCH', '/boxes/attic', { name: 'loft' })
  const removed = await stage.owner('DELETE', '/boxes/loft')
  await settle(20)
  const alone = await lineOf(relay, FIRST)
  const studio = await stage.join('studio', [FIRST])
  await clock.advance(5_000)

  expect(renamed.body).toMatchObject({ id: attic.id, name: 'loft' })
  expect(removed.body).toEqual({ id: attic.id, deleted: true })
  expect(alone).toMatchObject({ status: 'offline', status_reason: 'box_removed' })
  expect(await relay.lines()).toMatchObject([
    { id: line.id, status: 'online', box: { id: studio.id, name: 'studio' } },
  ])
})

test('of one number on two boxes, the newer line waits, and a move to it decides', async () => {
  await using stage = await startWithBoxes()
  const { relay, clock } = stage
  const attic = await stage.join('attic', [FIRST])
  const studio = await stage.join('studio', [FIRST])
  const [older, newer] = await relay.lines()
  const found = await findingsOf(relay)

  const moved = await stage.owner('POST', `/phone-lines/${older.id}/move`, { to: 'studio' })
  attic.driver.devices.length = 0
  await clock.advance(10_000)
  const sent = await relay.send({ to: PERSON, text: 'From the studio.' })

  expect([older.status, newer.status_reason]).toEqual(['online', 'number_twice'])
  expect(found.find(({ code }) => code === 'number_twice')).toMatchObject({ line_id: newer.id })
  expect(moved.body).toMatchObject({ id: older.id, box: { name: 'studio' } })
  const [line, left] = await relay.lines()
  const deleted = await relay.request('DELETE', `/api/v1/phone-lines/${left.id}`)
  expect([line.id, line.status, left.box.name, left.status]).toEqual([
    older.id,
    'online',
    'attic',
    'offline',
  ])
  expect(deleted.status).toBe(200)
  expect(sent.body).toMatchObject({ status: 'sent', phone_line_id: older.id })
  expect(studio.driver.devices[0]?.sent.map(({ text }) => text)).toEqual(['From the studio.'])
})

test('a line moves to a box: it waits for its number there, then sends what waited', async () => {
  const here = new ScriptedDriver()
  here.add(FIRST)
  await using stage = await startWithBoxes({ drivers: [here] })
  const { relay, clock } = stage
  const studio = await stage.join('studio', [])
  const line = await lineOf(relay, FIRST)

  const moving = await stage.owner('POST', `/phone-lines/${line.id}/move`, { to: studio.id })
  const waiting = await relay.send({ to: PERSON, text: 'later' }, ASYNC)
  here.devices.length = 0
  studio.driver.add(FIRST)
  await clock.advance(15_000)

  expect(moving.body).toMatchObject({
    status_reason: 'line_moving',
    moves_to: { id: studio.id, name: 'studio' },
  })
  expect(waiting.body.status).toBe('queued')
  expect((await relay.message(waiting.body.id)).status).toBe('sent')
  expect(studio.driver.devices[0]?.sent.map(({ text }) => text)).toEqual(['later'])
  expect(await relay.lines()).toMatchObject([{ id: line.id, box: { name: 'studio' } }])
})

test('a message of a backup stays uncertain where its box has no record: another one may have sent it', async () => {
  await using stage = await startWithBoxes()
  const { relay, clock } = stage
  const box = await stage.join('attic', [FIRST])
  const device = box.driver.devices[0]
  if (device !== undefined) device.script = vanishes
  const { body } = await relay.send({ to: PERSON, text: 'hello' }, ASYNC)
  await clock.advance(10)
  relay.db.sqlite.run("UPDATE messages SET status = 'uncertain', error_code = 'restored'")

  const outcome = { outcome: 'not_sent', reason: 'withdrawn', blame: 'line', proof: true } as const
  await device?.settle(body.id, outcome)
  await clock.advance(1_000)

  expect((await relay.message(body.id)).status).toBe('uncertain')
  expect(device?.given).toHaveLength(1)
})

test('names of boxes are checked, and an invitation can be made again until it was used', async () => {
  await using stage = await startWithBoxes()

  const refused = await stage.owner('POST', '/boxes', { name: 'here' })
  const first = await stage.owner('POST', '/boxes', { name: 'attic' })
  const second = await stage.owner('POST', '/boxes', { name: 'attic' })
  await stage.join('attic', [])
  const taken = await stage.owner('POST', '/boxes', { name: 'attic' })

  expect([refused.status, first.status, second.status, taken.status]).toEqual([400, 201, 201, 409])
  expect(second.body.id).toBe(first.body.id)
  expect(first.body).toMatchObject({
    status: 'invited',
    command: expect.stringMatching(/^hookline join hlj_/),
    expires_at: '2026-11-21T10:30:00.000Z',
  })
})

type Stage = Awaited<ReturnType<typeof startWithBoxes>>

async function lineOf(relay: Stage['relay'], number: string): Promise<Json> {
  return (await relay.lines()).find(({ phone_number }) => phone_number === number)
}

async function textsOf(relay: Stage['relay']): Promise<readonly string[]> {
  return (await relay.get('/api/v1/messages')).data.map(({ text }: Json) => text)
}

async function findingsOf(relay: Stage['relay']): Promise<readonly Json[]> {
  return (await relay.get('/api/v1/health')).data
}

async function metricsOf({ relay }: Stage): Promise<string> {
  const request = new Request('http://localhost/metrics', {
    headers: { 'X-API-Key': relay.key?.key ?? '', 'X-API-Secret': relay.key?.secret ?? '' },
  })
  const peer = { address: null, isControl: true, liftTimeout() {} }
  return (await relay.app.http.fetch(request, peer)).text()
}
