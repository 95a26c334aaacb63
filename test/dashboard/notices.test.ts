import { expect, test } from 'bun:test'

import { Notices } from '../../src/dashboard/notices.ts'
import { TestClock } from '../support/test-clock.ts'
import { pageClock } from './page-rig.ts'

test('what was done goes by itself, what failed stays until it is closed', async () => {
  const clock = new TestClock()
  const notices = new Notices(pageClock(clock))

  notices.done('Key revoked.')
  notices.failed('The relay does not answer.')
  const atFirst = texts(notices)
  await clock.advance(60_000)
  const later = texts(notices)
  for (const { id } of notices.shown.value) notices.close(id)

  expect(atFirst).toEqual(['Key revoked.', 'The relay does not answer.'])
  expect(later).toEqual(['The relay does not answer.'])
  expect(texts(notices)).toEqual([])
})

test('no more than three stand there at once, the latest', () => {
  const notices = new Notices(pageClock())

  for (const text of ['a', 'b', 'c', 'd']) notices.failed(text)

  expect(texts(notices)).toEqual(['b', 'c', 'd'])
})

test('the same words are announced a second time', () => {
  const notices = new Notices(pageClock())

  notices.announce('A new message')
  const first = notices.announced.value
  notices.announce('A new message')

  expect(notices.announced.value).not.toBe(first)
  expect(notices.announced.value.trim()).toBe(first)
})

function texts(notices: Notices): readonly string[] {
  return notices.shown.value.map(({ text }) => text)
}
