// Rules of alerts that count only the lines of sites.

import { expect, test } from 'bun:test'

import { deviceHandle } from '../../src/domain/handle.ts'
import { idsIn, makeKey } from '../support/limited-keys.ts'
import { guidOf } from '../support/scripted-driver.ts'
import { MINUTE, startAlerts } from './alerts-stage.ts'

async function stage() {
  const at = await startAlerts({ lines: ['online', 'online', 'online'] })
  const [berlin, hamburg] = [
    await at.owner('POST', '/sites', { name: 'Berlin' }),
    await at.owner('POST', '/sites', { name: 'Hamburg' }),
  ]
  const ids = (await at.get('/api/v1/phone-lines')).data.map(({ id }: { id: string }) => id)
  const move = (line: number, site: string | null) =>
    at.owner('PATCH', `/phone-lines/${ids[line]}`, { site_id: site })
  await move(0, berlin.id)
  await move(1, hamburg.id)
  await at.ntfy()
  return { at, ids, berlin, hamburg, move }
}

test('a rule of a site counts its lines, also after one has moved, and no others', async () => {
  const { at, ids, berlin, move } = await stage()
  await using _ = at
  const rule = await at.rule('line_off', { site_ids: [berlin.id] })
  const about = async () =>
    (await at.alerts())
      .map(({ phone_line_id: id }) => ids.indexOf(id))
      .toSorted((a: number, b: number) => a - b)

  for (const device of at.devices) await device.goOffline()
  await at.passes(10 * MINUTE)
  const first = await about()
  await move(2, berlin.id)
  await at.passes(MINUTE)
  const moved = await about()
  await at.rule('line_off', { site_ids: null })
  await at.passes(MINUTE)

  expect(rule).toMatchObject({ phone_line_ids: null, site_ids: [berlin.id] })
  expect(first).toEqual([0])
  expect(moved).toEqual([0, 2])
  expect(await about()).toEqual([0, 1, 2])
})

test('a rule of a site and of lines counts only lines that both allow', async () => {
  const { at, ids, berlin } = await stage()
  await using _ = at
  await at.rule('line_off', { site_ids: [berlin.id], phone_line_ids: [ids[1]] })

  for (const device of at.devices) await device.goOffline()
  await at.passes(10 * MINUTE)

  expect(await at.alerts()).toEqual([])
})

test('a site of a rule must exist, is not removed while the rule names it, and is shown to keys of it', async () => {
  const { at, berlin, hamburg } = await stage()
  await using _ = at

  const unknown = await at.rule('line_off', { site_ids: ['site_unknown'] })
  await at.rule('line_off', { site_ids: [berlin.id, hamburg.id] })
  const removed = await at.owner('DELETE', `/sites/${berlin.id}`)
  const key = await makeKey(at, { scopes: ['health:read'], site_ids: [hamburg.id] })
  const { body } = await key.call('GET', '/alerts/rules')

  expect(unknown.error.message).toContain('site_ids')
  expect(removed.error).toMatchObject({
    code: 'site_in_use',
    message: expect.stringContaining('the alert rule line_off'),
  })
  expect(body.data[0]).toMatchObject({ cause: 'line_off', site_ids: [hamburg.id] })
})

test('an alert about a webhook is shown only to keys that see the webhook, in the list and in the timeline', async () => {
  const { at, berlin, hamburg } = await stage()
  await using _ = at
  const hook = { url: 'https://hamburg.example/', events: ['message.received'] }
  await at.post('/api/v1/webhooks', { ...hook, site_ids: [hamburg.id] })
  at.sink.answer = ({ url }) => (url === hook.url ? 503 : 200)
  for (let n = 0; n < 6; n += 1) {
    await at.devices[1]?.receive({ guid: guidOf(n), handle: deviceHandle('+12025550701') })
    await at.passes(5_000)
  }
  await at.passes(15 * MINUTE)
  const seenBy = async (limits: object) => {
    const { get } = await makeKey(at, { scopes: ['health:read'], ...limits })
    const { data } = await get('/timeline')
    return [...idsIn(await get('/alerts')), ...data.map(({ kind }: { kind: string }) => kind)]
  }

  const [alert] = await at.alerts()

  expect(alert).toMatchObject({ cause: 'webhook_failing', phone_line_id: null })
  expect(await seenBy({ site_ids: [berlin.id] })).toEqual(['relay.started'])
  expect(await seenBy({ site_ids: [hamburg.id] })).toEqual([
    alert?.id,
    'alert.raised',
    'relay.started',
  ])
})
