// A box that sends more than its head takes, by mistake or because somebody has taken it.

import { expect, test } from 'bun:test'

import { SUBJECTS } from '../../src/boxes/link.ts'
import { startWithBoxes, type BoxesRelay } from '../support/boxes-rig.ts'
import { settle } from '../support/test-clock.ts'

const MB = 1_000_000
const MINUTE_MS = 60_000

/** Answers to so many texts of a megabyte that come at once in the name of a box. */
async function poured(stage: BoxesRelay, box: string, megabytes: number) {
  const link = stage.network.link()
  const asked = Array.from({ length: megabytes }, () =>
    link.ask(SUBJECTS.hello(box), 'x'.repeat(MB), 1_000).catch(String),
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

test('a box that floods is cut off for a minute, with a finding, and other boxes go on', async () => {
  await using stage = await startWithBoxes()
  const studio = await stage.join('studio', ['+12025550101'])
  await stage.join('attic', ['+12025550102'])
  const before = await statusOf(stage)

  const answers = await poured(stage, studio.id, 30)
  await stage.clock.advance(10_000)
  const during = await statusOf(stage)
  const { body } = await stage.owner('GET', '/health')
  await stage.clock.advance(MINUTE_MS)
  const after = await statusOf(stage)

  expect(answers.at(-1)).toBe('LinkError: Nobody listens.')
  expect(during.lines).toEqual(['offline', 'online'])
  expect(during.findings).toContain('box_cut_off')
  expect(body.data[0]).toMatchObject({
    code: 'box_cut_off',
    boxes: [studio.id],
    title: 'The box studio is cut off for a minute',
  })
  expect(after).toEqual(before)
})

test('what is too much at once is not taken and comes again, and is no flood', async () => {
  await using stage = await startWithBoxes()
  const { id } = await stage.join('studio', ['+12025550101'])
  const link = stage.network.link()
  const heard: boolean[] = []

  for (let second = 0; second < 60; second += 5) {
    await poured(stage, id, 12)
    await stage.clock.advance(4_000)
    heard.push(await link.ask(SUBJECTS.hello(id), '{}', 1_000).then(() => true))
  }

  expect(heard).toEqual(heard.map(() => true))
  expect(await statusOf(stage)).toMatchObject({ lines: ['online'] })
})
