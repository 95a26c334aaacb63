import { expect, test } from 'bun:test'

import type { Answer } from '../../src/dashboard/api.ts'
import { readOf, Store, combine, type Loaded, type Source } from '../../src/dashboard/store.ts'
import { TestClock } from '../support/test-clock.ts'
import { ok, pageClock, FakeUpdates, UNREACHABLE } from './page-rig.ts'

test('what is used is read, and read again when it changes, not when others do', async () => {
  const rig = storeRig()
  const kept = rig.store.use(rig.source('keys'))
  const before = kept.now.value

  await rig.clock.advance(0)
  rig.changes.emit({ what: 'message', id: 'msg_1' })
  await rig.clock.advance(1_000)
  const first = kept.now.value
  rig.changes.emit({ what: 'key', id: 'key_1' })
  await rig.clock.advance(1_000)

  expect(before).toEqual({ state: 'loading' })
  expect(first).toEqual({ state: 'ready', value: 'keys 1', failure: null })
  expect(kept.now.value).toEqual({ state: 'ready', value: 'keys 2', failure: null })
})

test('however often a thing changes, it is read at a calm pace, and once more at the end', async () => {
  const rig = storeRig()
  rig.store.use(rig.source('keys'))

  for (let count = 0; count < 100; count += 1) {
    rig.changes.emit({ what: 'key', id: 'key_1' })
    await rig.clock.advance(10)
  }
  await rig.clock.advance(1_000)

  expect(rig.readings.length).toBeLessThan(6)
})

test('two that show the same thing read it once', async () => {
  const rig = storeRig()

  const one = rig.store.use(rig.source('keys'))
  const two = rig.store.use(rig.source('keys'))
  await rig.clock.advance(0)

  expect(rig.readings).toEqual(['keys 1'])
  expect(two.now.value).toEqual(one.now.value)
})

test('what nobody shows is not read, and what was known is shown at once on coming back', async () => {
  const rig = storeRig()
  const kept = rig.store.use(rig.source('keys'))
  await rig.clock.advance(0)
  kept.release()
  rig.changes.emit('reset')
  await rig.clock.advance(60_000)
  const away = [...rig.readings]

  const again = rig.store.use(rig.source('keys'))
  const atOnce = again.now.value
  await rig.clock.advance(0)

  expect(away).toEqual(['keys 1'])
  expect(rig.changes.listenerCount).toBe(1)
  expect(atOnce).toEqual({ state: 'ready', value: 'keys 1', failure: null })
  expect(again.now.value).toEqual({ state: 'ready', value: 'keys 2', failure: null })
})

test('a failure stands beside the value that is known, and passes by itself', async () => {
  const rig = storeRig()
  const kept = rig.store.use(rig.source('keys'))
  await rig.clock.advance(0)
  rig.setDown(true)
  rig.changes.emit('reset')
  await rig.clock.advance(1_000)
  const down = kept.now.value
  rig.setDown(false)
  await rig.clock.advance(10_000)

  expect(down).toEqual({ state: 'ready', value: 'keys 1', failure: UNREACHABLE })
  expect(kept.now.value).toMatchObject({ state: 'ready', failure: null })
})

test('what is gone from the relay is gone from the page, and comes back with it', async () => {
  const rig = storeRig()
  const gone: Answer<string> = { ok: false, failure: { ...UNREACHABLE, status: 404 } }
  const answers = [ok('Anna'), gone, ok('Ben')]
  let answer = 0
  const kept = rig.store.use<string>({
    key: 'contact',
    on: ['key'],
    load: async () => answers[answer] ?? gone,
  })
  const states: string[] = []
  for (answer = 0; answer < answers.length; answer += 1) {
    rig.changes.emit('reset')
    await rig.clock.advance(1_000)
    states.push(kept.now.value.state)
  }

  expect(states).toEqual(['ready', 'failed', 'ready'])
  expect(kept.now.value).toEqual({ state: 'ready', value: 'Ben', failure: null })
})

test('a refusal that no repeat would change is not repeated', async () => {
  const rig = storeRig()
  const refusal: Answer<string> = { ok: false, failure: { ...UNREACHABLE, status: 404 } }
  let readings = 0
  const kept = rig.store.use<string>({
    key: 'gone',
    load: async () => {
      readings += 1
      return refusal
    },
    on: ['key'],
  })
  await rig.clock.advance(60_000)

  expect(readings).toBe(1)
  expect(kept.now.value.state).toBe('failed')
})

test('what one session read is gone for the next', async () => {
  const rig = storeRig()
  const kept = rig.store.use(rig.source('keys'))
  await rig.clock.advance(0)
  kept.release()

  rig.store.clear()

  expect(rig.store.use(rig.source('keys')).now.value).toEqual({ state: 'loading' })
})

test('only so many things are kept, those in use in any case', async () => {
  const rig = storeRig()
  const used = rig.store.use(rig.source('used'))
  await rig.clock.advance(0)
  for (let count = 0; count < 100; count += 1) {
    const kept = rig.store.use(rig.source(`key ${count}`))
    await rig.clock.advance(0)
    kept.release()
  }

  expect(rig.store.use(rig.source('key 0')).now.value).toEqual({ state: 'loading' })
  expect(rig.store.use(rig.source('key 99')).now.value.state).toBe('ready')
  expect(rig.store.use(rig.source('used')).now.value).toEqual(used.now.value)
})

test('a change makes old what is about the same thing, and nothing else of its kind', async () => {
  const rig = storeRig()
  rig.store.use({ ...rig.source('message'), on: ['msg_1'] })
  await rig.clock.advance(0)

  rig.changes.emit({ what: 'message', id: 'msg_2' })
  await rig.clock.advance(1_000)
  rig.changes.emit({ what: 'message', id: 'msg_1' })
  await rig.clock.advance(1_000)

  expect(rig.readings).toEqual(['message 1', 'message 2'])
})

test('several values are ready combine, fail with the first that fails, and are read again combine', () => {
  let readings = 0
  const read = <T>(now: Loaded<T>) => readOf(now, () => (readings += 1))
  const a = read<number>({ state: 'ready', value: 1, failure: null })
  const b = read<string>({ state: 'ready', value: 'two', failure: null })
  const loading = read<string>({ state: 'loading' })
  const failed = read<string>({ state: 'failed', failure: UNREACHABLE })

  const all = combine<{ a: number; b: string }>({ a, b })
  all.refresh()

  expect(all.value).toEqual({ a: 1, b: 'two' })
  expect(readings).toBe(2)
  expect(combine<{ a: number; b: string }>({ a, b: loading }).now).toEqual({ state: 'loading' })
  expect(combine<{ a: number; b: string }>({ a, b: failed }).now).toEqual({
    state: 'failed',
    failure: UNREACHABLE,
  })
})

function storeRig() {
  const clock = new TestClock()
  const changes = new FakeUpdates()
  const readings: string[] = []
  let isDown = false
  return {
    clock,
    changes,
    readings,
    store: new Store({ live: changes, clock: pageClock(clock) }),
    setDown: (value: boolean) => (isDown = value),
    source: (key: string): Source<string> => ({
      key,
      on: ['key'],
      load: async () => {
        if (isDown) return { ok: false, failure: UNREACHABLE }
        readings.push(`${key} ${readings.filter((each) => each.startsWith(`${key} `)).length + 1}`)
        return ok(readings.at(-1) ?? '')
      },
    }),
  }
}
