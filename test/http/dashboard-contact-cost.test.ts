import { expect, test } from 'bun:test'

import { contactCost } from '../../src/http/dashboard-contact-cost.ts'
import type { PhoneLineResource } from '../../src/http/phone-lines.ts'
import { ScriptedDriver } from '../support/scripted-driver.ts'
import { outcome, startDashboard } from './dashboard-rig.ts'
import { LINE } from './http-rig.ts'

const nobody = () => false

test('the line that will take a message is the first that is ready and has a contact left', () => {
  const lines = [
    line({ label: 'Simulated', driver: 'simulated' }),
    line({ label: 'Offline', status: 'offline' }),
    line({ label: 'Full', new_contacts_today: 50 }),
    line({ label: 'Free', new_contacts_today: 12 }),
  ]
  const cost = (knowsContact: (one: PhoneLineResource) => boolean, of = lines) =>
    contactCost({ lineId: null, lines: of, knowsContact })

  expect(cost(nobody)).toEqual({
    before: 'A new contact for ',
    name: 'Free',
    after: ': 12 of 50 used today.',
  })
  expect(cost(({ label }) => label === 'Full')).toEqual({
    before: '',
    name: 'Full',
    after: ' knows this contact: it costs nothing of its limit.',
  })
  expect(cost(nobody, lines.slice(0, 1)).name).toBe('Simulated')
  expect(cost(nobody, lines.slice(1, 2)).after).toStartWith('No line is ready')
})

test('a line that was chosen is told of, whatever the others could do', () => {
  const full = line({ id: 'line_full', new_contacts_today: 50 })

  const cost = contactCost({ lineId: full.id, lines: [line({}), full], knowsContact: nobody })

  expect(cost).toEqual({
    before: '',
    name: '+12025550101',
    after: ' has no new contact left today.',
  })
})

test('the relay knows with whom a line has written', async () => {
  const driver = new ScriptedDriver()
  driver.add('+12025550801')
  await using relay = await startDashboard({ drivers: [driver] })
  const browser = await relay.claim()
  await relay.send({ to: '+12025550700', text: 'Your table is ready.' })
  const path = (to: string) => `/dashboard/contact-cost?to=${encodeURIComponent(to)}`

  const known = (await browser.get(path('+12025550700'))).body.after
  const fresh = (await browser.get(path('+12025550701'))).body.after

  expect(known).toBe(' knows this contact: it costs nothing of its limit.')
  expect(fresh).toBe(': 1 of 50 used today.')
  expect(outcome(await relay.browser().get(path('+12025550700')))).toBe('401 signed_out')
})

function line(told: Partial<PhoneLineResource>): PhoneLineResource {
  return { ...LINE, driver: 'mac', ...told }
}
