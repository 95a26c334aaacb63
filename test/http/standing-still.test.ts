// A relay whose database is migrated and not checked: it is ready, and does nothing.

import { expect, test } from 'bun:test'

import { createRig, type Rig } from './http-rig.ts'

/** The relay during its startup check; each word that it may serve adds to `words`. */
function standStill(): { readonly rig: Rig; readonly words: string[] } {
  const words: string[] = []
  const { metrics } = createRig()
  const rig = createRig({
    health: {
      metrics,
      life: { phase: () => 'checking', isReady: () => true, isStorageFull: () => false },
      isMetricsOpen: () => true,
      findings: () => Promise.resolve([]),
    },
    control: {
      events: { subscribe: () => () => {} },
      options: [],
      phones: () => [],
      scriptCalls: () => [],
      settings: { list: () => [], set: () => Promise.reject(new Error('unused')) },
      backUp: () => Promise.reject(new Error('unused')),
      noteDownload: () => Promise.reject(new Error('unused')),
      confirmHealthy: () => words.push('may serve'),
    },
  })
  return { rig, words }
}

test('it is alive and ready, and refuses everything else as starting', async () => {
  const { rig } = standStill()

  const open = [await rig.call('GET', '/healthz'), await rig.call('GET', '/readyz')]
  const shut = await Promise.all(
    ['/metrics', '/swagger', '/nowhere', '/api/v1/messages', '/api/v1/nowhere'].map((path) =>
      rig.call('GET', path),
    ),
  )

  expect(await Promise.all(open.map((answer) => answer.json()))).toEqual([
    { status: 'ok' },
    { status: 'ready' },
  ])
  for (const answer of shut) {
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5'])
    expect(await answer.json()).toEqual({
      error: {
        code: 'starting',
        message: 'The relay is starting: try again in a few seconds.',
      },
    })
  }
  expect(rig.asked).toEqual([])
})

test('who has no credentials learns nothing but that', async () => {
  const { rig } = standStill()
  const headers = { 'x-api-key': 'wrong', 'x-api-secret': 'wrong' }

  const answers = await Promise.all(
    ['/api/v1/messages', '/api/v1/nowhere', '/api/v1/judgement'].map((path) =>
      rig.call('POST', path, { headers }),
    ),
  )

  expect(answers.map(({ status }) => status)).toEqual([401, 401, 401])
})

test('the word that it may serve comes by the control socket only', async () => {
  const { rig, words } = standStill()

  const outside = await rig.call('POST', '/api/v1/judgement')
  const [before] = [words.length]
  const inside = await rig.control('POST', '/api/v1/judgement')

  expect([outside.status, before]).toEqual([404, 0])
  expect([inside.status, await inside.json()]).toEqual([200, { version: '0.0.0' }])
  expect(words).toEqual(['may serve'])
})

test('the word is taken where nobody waits for it, and on the socket too all else is refused', async () => {
  const running = createRig()
  const { rig } = standStill()

  const word = await running.control('POST', '/api/v1/judgement')
  const other = await rig.control('GET', '/api/v1/settings')

  expect([word.status, other.status]).toEqual([200, 503])
})
