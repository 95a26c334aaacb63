// A box that sends more than its head takes, by mistake or because an attacker controls it.

import { expect, test } from 'bun:test'

import { SUBJECTS } from '../../src/boxes/link.ts'
import { timestamp } from '../../src/domain/ids.ts'
import { isoTime } from '../../src/system/iso-time.ts'
import { startWithBoxes, type BoxesRelay } from '../support/boxes-rig.ts'
import { settle } from '../support/test-clock.ts'

const MB = 1_000_000
const MINUTE_MS = 60_000

/** Answers to so many texts of a megabyte, and to a short one, that come at once in the name of a box. */
async function poured(stage: BoxesRelay, box: string, megabytes: number) {
  const link = stage.network.link()
  const big = Array.from({ length: megabytes }, () => 'x'.repeat(MB))
  const asked = [...big, 'short'].map((text) =>
    link.ask(SUBJECTS.hello(box), text, 1_000).catch(String),
  )
  await settle(20)
  await stage.clock.advance(1_000)
  return Promise.all(asked)
}

async function statusOf(stage: BoxesRelay) {
  const lines = await stage.relay.lines()
  const { body } = await stage.owner('GET', '/health')
  return {
    lines: lines.map(({ status }) => status),
    findings: (body.data as readonly { code: string }[]).map(({ code }) => code),
  }
}

test('a box that floods is cut off for a minute each time, with a finding, and other boxes go on', async () => {
  await using stage = await startWithBoxes()
  const studio = await stage.join('studio', ['+12025550101'])
  await stage.join('attic', ['+12025550102'])
  const before = await statusOf(stage)

  for (const start of ['first', 'again']) {
    const answers = await poured(stage, studio.id, 30)
    await stage.clock.advance(10_000)
    const { body } = await stage.owner('GET', '/health')
    const during = await statusOf(stage)
    const until = isoTime(timestamp(stage.clock.now() + MINUTE_MS - 11_000))
    await stage.clock.advance(MINUTE_MS)

    expect([start, answers.at(-1)]).toEqual([start, 'LinkError: Nobody listens.'])
    expect(during.lines).toEqual(['offline', 'online'])
    expect(body.data[0]).toMatchObject({
      code: 'box_cut_off',
      boxes: [studio.id],
      title: 'The box studio is cut off for a minute',
      why: expect.stringContaining(until),
    })
    expect(body.data[1]).toMatchObject({ code: 'box_unreachable', depends_on: 'box_cut_off' })
    expect(await statusOf(stage)).toEqual(before)
  }
})

test('what is too much at once is not taken, is taken when it comes again, and is no flood', async () => {
  await using stage = await startWithBoxes()
  const { id } = await stage.join('studio', ['+12025550101'], false)

  const answers = [
    await poured(stage, id, 9),
    await poured(stage, id, 2),
    await poured(stage, id, 9),
  ]

  expect(answers.map((of) => of.at(-1))).toEqual([
    'LinkError: No answer.',
    '{"isUnknown":true}',
    'LinkError: No answer.',
  ])
  expect(await statusOf(stage)).toMatchObject({ lines: ['online'] })
})
