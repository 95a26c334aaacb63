import { expect, test } from 'bun:test'

import { contactCost } from '../../src/messages/contact-cost.ts'
import { phoneLine } from '../dashboard/samples.ts'
import { startDashboard } from '../http/dashboard-rig.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'

test('what a message costs of the limit is a sentence', () => {
  const free = phoneLine({ label: 'Free', new_contacts_today: 12 })
  const full = phoneLine({ new_contacts_today: 50 })

  expect(contactCost(free, false)).toEqual({
    before: 'New contact for ',
    name: 'Free',
    after: '. 12 of 50 used today.',
  })
  expect(contactCost(full, true)).toEqual({
    before: 'Existing contact of ',
    name: '+12025550101',
    after: ". Doesn't count toward today's limit.",
  })
  expect(contactCost(full, false)).toEqual({
    before: '',
    name: '+12025550101',
    after: ' has no new contacts left today.',
  })
  expect(contactCost(null, false).after).toStartWith('No line is ready')
  const busy = phoneLine({ new_contacts_today: 7_179, daily_contact_limit: 100_000 })
  expect(contactCost(busy, false).after).toBe('. 7,179 of 100,000 used today.')
})

test('the line in the sentence is the one by which the message then goes, and knows whom it wrote to', async () => {
  const driver = new ScriptedDriver()
  for (const number of ['+12025550801', '+12025550802']) driver.add(number)
  await using relay = await startDashboard({ drivers: [driver] })
  const browser = await relay.claim()
  for (const line of await relay.lines()) {
    await relay.patch(`/api/v1/phone-lines/${line.id}`, { label: line.phone_number })
  }
  const told: string[] = []
  const gone: string[] = []

  for (const to of ['+12025550700', '+12025550701', '+12025550700', '+12025550702']) {
    const path = `/dashboard/contact-cost?to=${encodeURIComponent(to)}`
    const { name, after } = (await browser.get(path)).body
    told.push(`${name}${after}`)
    gone.push((await relay.send({ to, text: 'Your table is ready.' })).body.phone_number)
  }

  expect(gone).toEqual(['+12025550801', '+12025550802', '+12025550801', '+12025550801'])
  expect(told).toEqual([
    '+12025550801. 0 of 50 used today.',
    '+12025550802. 0 of 50 used today.',
    "+12025550801. Doesn't count toward today's limit.",
    '+12025550801. 1 of 50 used today.',
  ])
})
