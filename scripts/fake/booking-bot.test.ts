import { beforeEach, expect, test } from 'bun:test'

import { startBot } from './booking-bot.ts'

const command = ['hookline', 'fake', '--port', '0', '--seed', '1', '--print', 'json']
const { stdout } = Bun.spawn(command, { stdout: 'pipe' })
const fake = JSON.parse(new TextDecoder().decode((await stdout.getReader().read()).value))
const headers = { 'X-API-Key': fake.key, 'X-API-Secret': fake.secret }
const json = { ...headers, 'Content-Type': 'application/json' }
const call = (method: string, path: string, body: object) =>
  fetch(`${fake.url}/api/v1/${path}`, { method, headers: json, body: JSON.stringify(body) })
const texts = async (query = '') => {
  const answer = await fetch(`${fake.url}/api/v1/simulated/outbox?${query}`, { headers })
  return ((await answer.json()) as { data: { text: string }[] }).data.map(({ text }) => text)
}

let bot = startBot(fake)
beforeEach(async () => {
  await call('POST', 'simulated/reset', {})
  bot = startBot(fake)
  await call('POST', 'webhooks', { url: bot.url, events: ['message.received'] })
  const yes = { number: '+12025550147', answers: [{ contains: 'Tuesday', say: 'Yes' }] }
  await call('PUT', 'simulated/people', {
    people: [yes, { number: '*', answers: [{ say: 'STOP' }] }],
  })
})
test.each(['delivered_twice', 'receiver_refuses'])('a yes is booked once: %s', async (fault) => {
  await call('POST', 'simulated/faults', { fault, times: fault === 'receiver_refuses' ? 9 : 1 })
  await bot.offer('+12025550147')
  await call('POST', 'simulated/clock', { advance: '73h' })
  expect(await texts('count=2&wait=5s')).toEqual(['A table on Tuesday?', 'Booked.'])
})
test('an uncertain offer is not repeated, and who said STOP gets no more', async () => {
  await call('POST', 'simulated/faults', { fault: 'uncertain' })
  for (const person of ['+12025550148', '+12025550149']) await bot.offer(person)
  await call('POST', 'simulated/clock', { advance: '1m' })
  for (const person of ['+12025550148', '+12025550149']) await bot.remind(person)
  expect(await texts()).toEqual(['A table on Tuesday?', 'A table on Tuesday?', 'Tomorrow at 8.'])
})
