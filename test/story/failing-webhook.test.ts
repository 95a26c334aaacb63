// One meaning of "failing": the finding, the list of webhooks and the sentence of Home change together.

import { expect, test } from 'bun:test'

import { startDashboard } from '../http/dashboard-rig.ts'
import { ScriptedDriver, accepts } from '../support/scripted-driver.ts'
import { answered, type Answer } from '../support/webhook-sink.ts'

const MINUTE = 60_000

async function stage() {
  const driver = new ScriptedDriver('simulated')
  driver.add('+12025550801').script = accepts
  let answer: Exclude<Answer, number | 'hang' | { afterMs: number }> = answered(500)
  const relay = await startDashboard({
    drivers: [driver],
    post: async () => answer,
  })
  const browser = await relay.claim()
  const hook = { url: 'https://shop.example.com/hook', events: ['message.sent'] }
  await relay.post('/api/v1/webhooks', hook)
  const sending = relay.send({ to: '+12025550701', text: 'hello' })
  await relay.clock.advance(1_000)
  await sending
  return {
    async passes(ms: number, next = answer) {
      answer = next
      await relay.clock.advance(ms)
      return this.said()
    },
    async said() {
      const state = (await browser.get('/dashboard/state')).body
      const findings = await relay.findings()
      const [webhook] = (await relay.get('/api/v1/webhooks')).data
      return {
        list: webhook.is_failing === true,
        finding: findings.map(({ code }) => code).filter((code) => code.startsWith('webhook_')),
        home: state.webhooks,
        title: state.title,
      }
    },
    [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose](),
  }
}

const FINE = { list: false, finding: [], home: 'all webhooks working', title: 'Everything works' }
const BROKEN = { list: true, home: 'the webhook is failing', title: '1 issue needs attention' }

test('a webhook that failed once is not failing; after five failures its list, Home and a finding say so', async () => {
  await using at = await stage()

  const first = await at.passes(1_000)
  const later = await at.passes(30 * MINUTE)
  const mended = await at.passes(10 * MINUTE, answered(200))

  expect([first, mended]).toEqual([FINE, FINE])
  expect(later).toEqual({ ...BROKEN, finding: ['webhook_failing'] })
})

test('a webhook that this machine has no way to is failing, too', async () => {
  await using at = await stage()

  const away = await at.passes(10 * MINUTE, { result: 'unreachable' })
  const back = await at.passes(10 * MINUTE, answered(200))

  expect(away).toEqual({ ...BROKEN, finding: ['webhook_out_of_reach'] })
  expect(back).toEqual(FINE)
})
